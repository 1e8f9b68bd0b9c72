const DATES = 'collectedAt collectedOn collectedAtRaw reportedAt reportedOn reportedAtRaw';

/**
 * Reads the results of one order. Variables: `orderId`, `full`; without `full` no value and no name reaches the page, only
 * whether there are results, how complete they are, and their dates.
 */
export const READ_RESULTS =
  'query PortalResults($orderId:ID!,$full:Boolean!){order(id:$orderId){id status{step}' +
  `resultMetadata@skip(if:$full){statusRaw ${DATES}}` +
  `results@include(if:$full){metadata{statusRaw interpretation laboratory:labName cliaNumber provider ${DATES}}` +
  'biomarkers{name value type unit referenceRange minRange maxRange isAboveRange isBelowRange ' +
  'interpretation interpretationRaw sourceInterpretation notes performingLaboratory sourceMarkers{name}}' +
  'missing{name reason note:notes}' +
  'samples{performingLaboratories{name phoneNumber medicalDirector address{firstLine secondLine city state zip country}}}}}}';

/** Makes a ticket for one download of the report. Variables: `orderId`. */
export const CREATE_DOCUMENT_TICKET =
  'mutation PortalDocument($orderId:ID!){document:createDocumentTicket(input:{orderId:$orderId,kind:RESULT})' +
  '{__typename ...on DocumentTicket{url}}}';
