import { type Scope, scopes } from '../../../gateway/auth/rights.ts';

/**
 * What a caller needs to be shown a field of an object that it was given. A text of words:
 * - `shown`: nothing more.
 * - scopes: all of them.
 * - `team`: a gateway key.
 * - `at home`: only where the appointment is not at a service center.
 * - `of a profile`: only where the resource is profile.
 * - `of a user`: refused to a token that is limited to some orders, with any scopes.
 * - `hidden`: to such a token it is empty, as if there were nothing.
 */
type Words = string;

/** The fields of a type by what they need; a text alone names fields that need nothing more. */
type Row = string | Readonly<Record<Words, string>>;

/** Scopes that a token does not have once it is limited to some orders. */
export const scopesOfUser: readonly Scope[] = [
  'read:profile',
  'read:health',
  'write:profile',
  'write:lab-reports',
];

/**
 * Every field of every object of schema.graphql. Before a new one is written down as shown: does it say who somebody is
 * (name, birth date, phone, e-mail, address), or could it? Then it needs read:profile (decision 0086).
 */
const table: Readonly<Record<string, Row>> = {
  ActivitySummary: `
    caloriesActive caloriesTotal dailyMovement distance floorsClimbed high low medium steps`,
  Address: `
    accessNotes city country countryCode firstLine phoneNumber receiverName secondLine state unit zip`,
  AllowedBilling: 'states typeRaw',
  Appointment: {
    shown: `
      appointmentNotes canReschedule endAt eventStatus eventStatusRaw events externalId id nodeId order orderId
      provider providerId providerRaw startAt status statusRaw timeZone transaction transactionId type typeRaw
      user userId`,
    'read:profile': 'accessNotes eventData',
    'read:profile at home': 'address location',
  },
  AppointmentAccepted: 'appointment order',
  AppointmentCancellationReason: 'id isRefundable name needsNotes',
  AppointmentChanged: 'appointment clientUserId cursor order payload receivedAt teamId type user userId',
  AppointmentEvent: {
    shown: 'createdAt status statusRaw',
    'read:profile': 'details',
  },
  AppointmentRefused: 'appointment code message order status',
  AreaInfo: 'labs phlebotomy zipCode',
  AreaLab: {
    shown: `
      canBookAppointments capabilities capabilitiesRaw labId labSlug serviceCenterCount supportedBillTypes`,
    'read:catalogue': 'lab',
  },
  AvailabilityDay: 'date serviceCenter slots timeZone',
  AvailabilityPlace: 'address distance distanceRaw location name siteCode',
  AvailabilitySlot: 'availableCount bookingKey endAt expiresAt isPriority price startAt',
  BiomarkerResult: {
    shown: `
      interpretation interpretationRaw isAboveRange isBelowRange loincCode loincSlug maxRange minRange name
      notes performingLaboratory providerId referenceRange reportedAt reportedAtRaw reportedOn sample sampleId
      slug sourceInterpretation sourceMarkers type typeRaw unit value`,
    'read:catalogue': 'marker',
  },
  CancelRefused: 'code message order status',
  ClientUserIdTaken: 'code createdAt existingUser existingUserId message',
  ConnectedSource: 'createdAt source',
  ConnectionChanged: `
    clientUserId cursor errorDetails errorMessage errorType errorTypeRaw externalUserId isConnected
    payload receivedAt resources source teamId type user userId`,
  ConnectionFault: 'message occurredAt type typeRaw',
  Coordinates: 'latitude longitude',
  Demographics: `
    address dob email ethnicity ethnicityRaw firstName gender genderIdentity genderIdentityRaw lastName
    medicalProxy phoneNumber race raceRaw sexualOrientation sexualOrientationRaw`,
  DemographicsUpdated: {
    shown: 'demographics',
    'read:orders': 'user',
  },
  DocumentNotReady: 'code message',
  DocumentTicket: 'expiresAt url',
  ExpectedResult: {
    shown: 'id isRequired labId loinc name providerId slug',
    'read:catalogue': 'lab',
  },
  FallbackBirthDate: 'sourceSlug updatedAt value',
  FallbackTimeZone: 'id name sourceSlug updatedAt',
  FeatureNotEnabled: 'code message',
  HealthSample: `
    end endAt payload receivedAt resource source sourceId start startAt timestamp timeZoneOffset
    timezoneOffset type unit value`,
  HealthSamplesReceived: `
    clientUserId cursor isUpdate payload receivedAt resource samples teamId type user userId`,
  HealthSource: 'appId deviceId logo name provider slug sport type workoutId',
  HealthSummary: {
    shown: 'activity calendarDate date id receivedAt resource source timeZoneOffset timezoneOffset',
    'read:profile of a profile': 'payload',
  },
  HealthSummaryReceived:
    'clientUserId cursor isUpdate payload receivedAt resource summary teamId type user userId',
  HistoricalPull: `
    daysWithData endedAt error errorRaw rangeEnd rangeStart resource scheduledAt startedAt status
    statusRaw`,
  HistoricalPullCompleted: `
    clientUserId cursor endDate isFinal rangeEnd rangeStart payload receivedAt resource source startDate teamId type user userId`,
  IdempotencyConflict: 'code message',
  InputIssue: 'code message path',
  InputRejected: 'code issues message',
  Lab: `
    city collectionMethods collectionMethodsRaw firstLine id nodeId logoUrl name sampleTypesRaw slug zip`,
  LabAccount: `
    accountName allowedBilling businessUnits defaultClinicalNotes delegatedFlow delegatedFlowRaw id nodeId lab
    labSlug orgId providerAccountId status statusRaw suppliesOwnPhysicians`,
  LabReport: {
    shown: `
      failureReason failureReasonRaw id nodeId isReviewed metadata needsHumanReview results review status
      statusRaw userId`,
    'read:orders': 'user',
  },
  LabReportChanged: 'clientUserId cursor labReport payload receivedAt teamId type user userId',
  LabReportCreated: 'labReport',
  LabReportMetadata: {
    shown: 'collectedOn collectedOnRaw labName reportedOn reportedOnRaw specimenNumber',
    'read:profile': 'dob dobRaw gender patientFirstName patientLastName',
  },
  LabReportResult: `
    interpretation interpretationRaw isAboveRange isBelowRange loincMatchStatus loincMatchStatusRaw
    loincMatches maxRange measurementKind measurementKindRaw minRange name panelName sampleType
    sampleTypeRaw sensitivity sensitivityRaw type typeRaw unit value`,
  LabTest: {
    shown: `
      collectionMethod collectionMethodRaw commonTurnaroundDays description fasting id nodeId lab method
      methodRaw name price sampleTypeRaw slug
      status statusRaw worstCaseTurnaroundDays`,
    'read:orders': 'markers',
  },
  LabTestConnection: 'edges nodes pageInfo totalCount',
  LabTestEdge: 'cursor node',
  LaunchTicket: 'expiresAt ticket',
  LinkedProvider: 'createdAt error externalUserId resources source status statusRaw',
  Loinc: {
    shown: 'code id name slug unit',
    'read:catalogue': 'markers',
  },
  LoincMatch: 'aliases code confidence displayName name',
  Marker: {
    shown: `
      commonTurnaroundDays description expectedResults id nodeId isALaCarteEnabled isOrderable labId name price
      providerId questions slug type typeRaw unit worstCaseTurnaroundDays`,
    'read:catalogue': 'lab',
  },
  MarkerConnection: 'edges nodes pageInfo totalCount',
  MarkerEdge: 'cursor node',
  MarkerQuestion: 'answers code constraint defaultAnswer id isRequired sequence text type typeRaw',
  MedicalProxy: 'address email firstName householdIncome householdSize lastName phoneNumber',
  MissingResult: 'loincCode loincSlug name note notes providerId reason reasonRaw slug sourceMarkers',
  // What they are about is read first: hence read:orders.
  Mutation: {
    team: `
      createUser createViewerToken deleteUser resendOrderEvents revokeViewerTokens undoUserDeletion updateUser`,
    'read:orders write:orders': 'cancelOrder registerTestkit updateOrder',
    'write:orders of a user': 'createOrder createTestkitOrder importOrder',
    'read:orders simulate:orders': 'simulateOrder',
    'read:orders write:appointments': `
      bookPhlebotomyAppointment bookServiceCenterAppointment cancelPhlebotomyAppointment
      cancelServiceCenterAppointment requestPhlebotomyAppointment reschedulePhlebotomyAppointment
      rescheduleServiceCenterAppointment`,
    'launch:portal': 'createLaunchTicket createPortalUrl',
    'write:lab-reports': 'createLabReport',
    'write:profile': 'updateDemographics',
    // Of a REQUISITION; for a RESULT it is read:results (document.test.ts).
    'read:orders read:profile': 'createDocumentTicket',
  },
  NotFound: 'code message',
  Order: {
    shown: `
      activateBy appointment billingType billingTypeRaw clinicalNotes collectionMethod collectionMethodRaw createdAt details events
      expectedResultBy hasAbn hasMissingResults healthInsuranceId icdCodes id nodeId interpretation
      interpretationRaw labTest lastEvent markers method methodRaw notes origin originRaw parent
      passthrough physician priority sampleId serviceCenters shipment status teamId transaction updatedAt
      user userId worstCaseResultBy`,
    'read:profile': 'patient patientAddress requisitionFormUrl shippingAddress',
    'read:results': 'resultMetadata results',
  },
  OrderCancelled: 'order',
  OrderConnection: 'edges nodes pageInfo totalCount',
  OrderCreated: 'cursor order serviceMessage serviceStatus',
  OrderDetails: 'appointment appointmentId createdAt id updatedAt',
  OrderEdge: 'cursor node',
  OrderEvent: 'createdAt id markers order status statusDetail',
  OrderEventReceived: 'clientUserId cursor event order payload receivedAt teamId type user userId',
  OrderEventsResent: 'orderIds orders',
  OrderInTransaction: `
    createdAt id order origin originRaw parent parentId step stepAt stepRaw updatedAt`,
  OrderPhysician: 'firstName lastName npi',
  OrderResults: 'biomarkers metadata missing samples',
  OrderSimulated: 'order',
  OrderStatus: 'collectionMethod isTerminal label method needsAttention raw stage step',
  OrderTransaction: 'id orders status statusRaw',
  OrderUpdate: 'cursor event kind order receivedAt',
  OrderUpdateRefused: 'code message order status',
  OrderUpdated: 'order',
  PageInfo: 'endCursor hasNextPage hasPreviousPage startCursor',
  Parcel: 'courier trackingNumber trackingUrl',
  PatientDetails: `
    dob email ethnicity ethnicityRaw firstName gender genderIdentity genderIdentityRaw lastName
    medicalProxy phoneNumber race raceRaw sexualOrientation sexualOrientationRaw`,
  PerformingLaboratory: 'address code medicalDirector name phoneNumber',
  PhlebotomyArea: 'isServed providers',
  PhlebotomyProvider: 'provider providerRaw serviceTypes serviceTypesRaw',
  PhysicianRequired: 'code message',
  PortalUrl: 'expiresIn url',
  PortalUrlRejected: 'code demographicsMissing issues message',
  ProviderHistoricalPulls: 'notPulled providerSlug pulls',
  Query: {
    // What a node needs is up to its type (nodes.test.ts). Here they are asked for none.
    shown: 'node nodes viewer',
    'read:orders': `
      appointment appointmentCancellationReasons areaInfo order orderSetMarkers orders
      phlebotomyAvailability serviceCenterAvailability serviceCenters user userByClientUserId users`,
    'read:catalogue': 'lab labTest labTests labs marker markers',
    'read:profile': 'historicalPulls',
    'read:results hidden': 'labReport',
    'read:health': 'workoutStream',
    team: 'eventCursor labAccounts',
  },
  QuestionAnswer: 'code id value',
  ResourceAvailability: 'resource scopeRequirements status statusRaw',
  ResultCritical: `
    clientUserId createdAt cursor interpretation interpretationRaw order orderId payload receivedAt sampleId
    statusRaw teamId type updatedAt user userId`,
  ResultMetadata: {
    shown: `
      cliaNumber collectedAt collectedAtRaw collectedOn interpretation interpretationRaw labName
      laboratory provider receivedAt receivedAtRaw receivedOn reportedAt reportedAtRaw reportedOn specimenNumber
      statusRaw`,
    'read:profile': 'age birthDateRaw dobRaw patientName',
  },
  ResultSample: `
    collectedAt collectedAtRaw collectedOn controlNumber fasting information laboratories notes
    performingLaboratories receivedAt receivedAtRaw receivedOn reportedAt reportedAtRaw reportedOn
    sampleId totalVolume`,
  ScopeRequirementGrants: 'userDenied userGranted',
  ScopeRequirements: 'optional required',
  ServiceCenter: `
    address capabilities capabilitiesRaw distance distanceRaw faxNumber hours location name siteCode
    supportedBillTypes website`,
  Shipment: 'createdAt id inbound notes outbound updatedAt',
  SlotUnavailable: 'code message',
  Source: 'logo name slug',
  SourceMarker: {
    shown: 'markerId name providerId slug',
    'read:catalogue': 'marker',
  },
  Sport: 'id name slug',
  StreamReset: 'clientUserId cursor reason payload receivedAt teamId type user userId',
  Subscription: {
    team: 'events',
    'read:orders': 'orderUpdates userOrderUpdates',
  },
  TestkitRegistered: 'cursor order',
  UndoRefused: 'code message user',
  UnknownEvent: 'clientUserId cursor payload receivedAt teamId type user userId',
  User: {
    shown: 'clientUserId id nodeId orders teamId',
    hidden: 'connectedSources createdAt fallbackTimeZone ingestionEnd ingestionStart',
    'read:profile': 'connections demographics fallbackBirthDate historicalPulls',
    'read:health': 'healthSamples healthSummaries',
  },
  UserConnection: 'edges nodes pageInfo totalCount',
  UserCreated: 'user',
  UserDeleted: 'undoUntil userId',
  UserDeletionUndone: 'user',
  UserEdge: 'cursor node',
  UserHistoricalPulls: {
    shown: 'providers userId',
    'read:orders': 'user',
  },
  UserHistoricalPullsConnection: 'edges nodes pageInfo totalCount',
  UserHistoricalPullsEdge: 'cursor node',
  UserUpdated: 'user userId',
  Viewer: {
    shown: 'expiresAt kind scopes teamId userId',
    'read:orders': 'user',
  },
  ViewerToken: 'expiresAt jti token',
  ViewerTokensRevoked: 'revokedAt',
  WorkoutStream: `
    altitude cadence distance heartRate latitude longitude power resistance temperature time velocity
    workoutId`,
  WorkoutStreamReady: `
    clientUserId cursor message providerId payload receivedAt source sport stream teamId type user userId workoutId`,
};

export interface Need {
  readonly scopes: readonly Scope[];
  readonly isForTeam: boolean;
  /** Whether this object's field needs nothing. */
  readonly isOpen: (object: Readonly<Record<string, unknown>>) => boolean;
  /** Refused, or hidden, where a token is limited to some orders. */
  readonly ofUser: 'refused' | 'hidden' | null;
}

const openings: Readonly<Record<string, Need['isOpen']>> = {
  'at home': ({ type }) => type === 'PATIENT_SERVICE_CENTER',
  'of a profile': ({ resource }) => resource !== 'profile',
};

const needs: ReadonlyMap<string, Need> = new Map(
  Object.entries(table).flatMap(([type, row]) =>
    Object.entries(typeof row === 'string' ? { shown: row } : row).flatMap(([words, fields]) =>
      fields
        .trim()
        .split(/\s+/)
        .map((field) => [`${type}.${field}`, readNeed(words)] as const),
    ),
  ),
);

/** Every field that the table names, by its coordinate. */
export const coordinates: readonly string[] = [...needs.keys()];

export function needOf(coordinate: string): Need {
  const need = needs.get(coordinate);
  if (need === undefined) throw new Error(`Say in scopes/table.ts what ${coordinate} needs.`);
  return need;
}

function readNeed(words: Words): Need {
  const needed = scopes.filter((scope) => words.split(' ').includes(scope));
  const rest = needed.reduce((text, scope) => text.replace(scope, ''), words).trim();
  if (!['', 'shown', 'team', 'of a user', 'hidden', ...Object.keys(openings)].includes(rest))
    throw new Error(`"${words}" is not what a field can need.`);
  const narrow: Readonly<Record<string, Need['ofUser']>> = { 'of a user': 'refused', hidden: 'hidden' };
  return {
    scopes: needed,
    isForTeam: rest === 'team',
    isOpen: openings[rest] ?? (() => false),
    ofUser: narrow[rest] ?? null,
  };
}
