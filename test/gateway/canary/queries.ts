/** Reads of everything that somebody has, by callers who may see it and callers who may not. */
export function queriesAbout({
  userId,
  orderId,
}: {
  readonly userId: string;
  readonly orderId: string;
}): readonly string[] {
  return [
    `{ users(first: 20) { nodes { id clientUserId demographics { ${demographics} } } } }`,
    `{ user(id: "${userId}") { clientUserId fallbackBirthDate { value } demographics { ${demographics} }
       connections { status source { name } } historicalPulls { providerSlug } orders { nodes { ${order} } } } }`,
    `{ user(id: "${userId}") { healthSummaries(resource: "activity") { id source { name } payload } } }`,
    `{ order(id: "${orderId}") { ${order} appointment { accessNotes appointmentNotes address { firstLine } }
       results { metadata { patientName laboratory } biomarkers { name value notes } } } }`,
    `{ orders(first: 20) { totalCount nodes { ${order} } } }`,
    `{ workoutStream(workoutId: "${orderId}") { __typename } labReport(id: "${orderId}") { id } }`,
    '{ viewer { kind } labs { name } labTests(first: 5) { nodes { name } } labAccounts { id } }',
  ];
}

const demographics = `firstName lastName email phoneNumber dob gender race address { firstLine city accessNotes }
  medicalProxy { firstName email phoneNumber }`;
const order = `id notes clinicalNotes passthrough sampleId status { raw } patient { firstName lastName email phoneNumber dob }
  patientAddress { receiverName firstLine accessNotes } shippingAddress { receiverName firstLine phoneNumber }
  physician { firstName lastName npi }`;
