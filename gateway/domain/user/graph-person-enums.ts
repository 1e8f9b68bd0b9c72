import { openEnum } from '../../graph/open-enum.ts';

/** How people describe themselves: open sets of the service, for demographics and for patients of orders. */
export const race = openEnum('Race', 'Race, as a lab asks for it.', {
  AFRICAN_AMERICAN_OR_BLACK: 'The person is African American or Black.',
  ASIAN: 'The person is Asian.',
  INDIGENOUS_NATIVE_AMERICAN_ALASKA_NATIVE: 'The person is Indigenous, Native American or Alaska Native.',
  OTHER: 'Something that none of these words fits.',
  PACIFIC_ISLANDER_OR_HAWAIIAN: 'The person is a Pacific Islander or Hawaiian.',
  WHITE_CAUCASIAN: 'The person is White or Caucasian.',
});

export const ethnicity = openEnum('Ethnicity', 'Ethnicity, as a lab asks for it.', {
  HISPANIC: 'The person is Hispanic.',
  NON_HISPANIC: 'The person is not Hispanic.',
  ASHKENAZI_JEWISH: 'The person is Ashkenazi Jewish.',
  OTHER: 'Something that none of these words fits.',
});

export const sexualOrientation = openEnum('SexualOrientation', 'Sexual orientation, as a lab asks for it.', {
  LESBIAN_GAY_OR_HOMOSEXUAL: 'The person is lesbian, gay or homosexual.',
  HETEROSEXUAL_OR_STRAIGHT: 'The person is heterosexual or straight.',
  BISEXUAL: 'The person is bisexual.',
  DONT_KNOW: 'The person does not know.',
  OTHER: 'Something that none of these words fits.',
});

export const genderIdentity = openEnum('GenderIdentity', 'Gender identity, as a lab asks for it.', {
  MALE: 'The person is male.',
  FEMALE: 'The person is female.',
  FEMALE_TO_MALE_FTM_TRANSGENDER_MALE_TRANS_MAN: 'The person is a transgender man (female to male).',
  MALE_TO_FEMALE_MTF_TRANSGENDER_FEMALE_TRANS_WOMAN: 'The person is a transgender woman (male to female).',
  GENDERQUEER: 'The person is genderqueer.',
  OTHER: 'Something that none of these words fits.',
});
