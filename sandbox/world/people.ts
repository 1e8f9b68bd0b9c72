/** A postal address in the spelling of the service (specification: address object). */
export interface Address {
  readonly receiver_name?: string;
  readonly first_line: string;
  readonly second_line: string | null;
  readonly city: string;
  readonly state: string;
  readonly zip: string;
  readonly country: string;
  readonly phone_number?: string;
  readonly access_notes?: string | null;
}

/** A person's record at the service (public service: UserInfo). */
export interface Demographics {
  readonly first_name: string;
  readonly last_name: string;
  readonly email: string;
  readonly phone_number: string;
  readonly gender: string;
  readonly dob: string;
  readonly address: Address;
  /** As sent: the legal guardian, and the person's own statements. */
  readonly medical_proxy?: unknown;
  readonly race?: string | null;
  readonly ethnicity?: string | null;
  readonly sexual_orientation?: string | null;
  readonly gender_identity?: string | null;
}

interface Person {
  readonly name: string;
  readonly gender: string;
  readonly dob: string;
  readonly city: readonly [city: string, state: string, zip: string, areaCode: string];
  /** Without it the person has an account, but no demographics. */
  readonly known: boolean;
  readonly sources: readonly string[];
  readonly timeZone?: string;
  readonly birthDate?: string;
}

const phoenix = ['Phoenix', 'AZ', '85004', '602'] as const;
const austin = ['Austin', 'TX', '78701', '512'] as const;
const denver = ['Denver', 'CO', '80202', '303'] as const;
const boston = ['Boston', 'MA', '02108', '617'] as const;

function person(
  [name, gender, dob]: readonly [string, string, string],
  city: Person['city'],
  more: Partial<Person> = {},
): Person {
  return { name, gender, dob, city, known: true, sources: [], ...more };
}

/** Twenty invented people, oldest account first. Their e-mail addresses and phone numbers belong to nobody. */
export const people: readonly Person[] = [
  person(['Avery Lindholm', 'female', '1988-04-12'], phoenix, {
    sources: ['oura', 'withings'],
    timeZone: 'America/Phoenix',
    birthDate: '1988-04-12',
  }),
  person(['Blake Okereke', 'male', '1975-11-30'], austin, {
    sources: ['fitbit'],
    timeZone: 'America/Chicago',
  }),
  person(['Casey Marchetta', 'other', '1992-07-03'], denver, { sources: ['garmin', 'dexcom_v3'] }),
  person(['Devon Achterman', 'male', '1969-01-25'], boston, { birthDate: '1969-01-25' }),
  person(['Emery Castellow', 'female', '2001-09-17'], phoenix, { sources: ['oura'] }),
  person(['Finley Osgoode', 'unknown', '1983-02-08'], austin, { timeZone: 'America/New_York' }),
  person(['Gray Pellerin', 'male', '1959-06-21'], denver),
  person(['Harper Nakamori', 'female', '1996-12-05'], boston),
  person(['Indigo Varela', 'female', '1979-03-14'], phoenix),
  person(['Jules Brandvold', 'male', '1990-10-10'], austin, { known: false }),
  person(['Kai Rasmuson', 'male', '1986-05-29'], denver),
  person(['Logan Petrakis', 'female', '1998-08-08'], boston, { known: false }),
  person(['Morgan Delacroy', 'female', '1972-02-19'], phoenix),
  person(['Noel Abernathie', 'other', '2000-01-31'], austin, { known: false }),
  person(['Oakley Wintersall', 'female', '1981-07-19'], denver, { sources: ['polar'] }),
  person(['Parker Szymanek', 'male', '1994-03-27'], boston),
  person(['Quinn Hallorsen', 'female', '1967-11-08'], phoenix),
  person(['Reese Montalbo', 'other', '1989-01-16'], austin, { timeZone: 'America/Chicago' }),
  person(['Sage Kowalik', 'male', '1977-09-02'], denver),
  person(['Tatum Ekdahl', 'female', '1999-05-23'], boston),
];

/** Demographics of the person at this place of {@link people}; null where none are set. */
export function demographicsOf(index: number): Demographics | null {
  const found = people[index];
  if (!found?.known) return null;
  const [first = '', last = ''] = found.name.split(' ');
  const [city, state, zip, areaCode] = found.city;
  return {
    first_name: first,
    last_name: last,
    email: `${first}.${last}@example.com`.toLowerCase(),
    phone_number: `+1${areaCode}555${String(100 + index).padStart(4, '0')}`,
    gender: found.gender,
    dob: found.dob,
    address: {
      first_line: `${100 + index} Example Street`,
      second_line: index % 3 === 0 ? `Unit ${index + 1}` : null,
      country: 'US',
      zip,
      city,
      state,
      access_notes: index % 5 === 0 ? 'Ring twice.' : null,
    },
  };
}
