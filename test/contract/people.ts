/** No user, order, job or workout has this id. */
export const nobody = '00000000-0000-4000-8000-00000000dead';

/** An address in Phoenix where nobody lives, as appointments take it. */
export const address = {
  first_line: '100 Example Street',
  city: 'Phoenix',
  state: 'AZ',
  zip_code: '85004',
  access_notes: 'Gate code 12.',
};

export const demographics = {
  first_name: 'Avery',
  last_name: 'Sample',
  email: 'avery@example.com',
  phone_number: '+16025550100',
  gender: 'female',
  dob: '1990-04-01',
  address: { first_line: '100 Example Street', country: 'US', zip: '85004', city: 'Phoenix', state: 'AZ' },
};

export const physician = { first_name: 'Robin', last_name: 'Careful', npi: '1234567890' };

export const patient = {
  patient_details: {
    first_name: 'Avery',
    last_name: 'Sample',
    dob: '1988-04-12',
    gender: 'female',
    phone_number: '+16025550100',
    email: 'avery.sample@example.com',
  },
  patient_address: { ...demographics.address, receiver_name: 'Avery Sample', access_notes: 'Blue door.' },
};

/** The same people in the words of the graph. */
export const visitAddress = {
  firstLine: '100 Example Street',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85004',
  accessNotes: 'Gate code 12.',
};

export const shippingAddress = {
  receiverName: 'Avery Sample',
  firstLine: '100 Example Street',
  secondLine: 'Unit 4',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85004',
  country: 'US',
  phoneNumber: '+16025550100',
};

const homeAddress = {
  firstLine: '100 Example Street',
  city: 'Phoenix',
  state: 'AZ',
  zip: '85004',
  country: 'US',
};

export const demographicsInput = {
  firstName: 'Avery',
  lastName: 'Sample',
  email: 'avery@example.com',
  phoneNumber: '+16025550100',
  gender: 'female',
  dob: '1990-04-01',
  address: { ...homeAddress, accessNotes: 'Gate code 12.' },
  race: 'ASIAN',
  ethnicity: 'HISPANIC',
  sexualOrientation: 'OTHER',
  genderIdentity: 'FEMALE',
  medicalProxy: {
    firstName: 'Robin',
    lastName: 'Sample',
    phoneNumber: '+16025550124',
    email: 'robin@example.com',
    address: { ...homeAddress, secondLine: 'Unit 4' },
    householdIncome: 40_000,
    householdSize: 3,
  },
};

/** The same in the service's own words. */
export const otherWords = {
  ...{ race: undefined, ethnicity: undefined, sexualOrientation: undefined, genderIdentity: undefined },
  ...{
    raceRaw: 'asian',
    ethnicityRaw: 'hispanic',
    sexualOrientationRaw: 'other',
    genderIdentityRaw: 'female',
  },
};
