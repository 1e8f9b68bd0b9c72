/** Where blood is drawn: an area around a zip code, or one patient service center. */
export interface Place {
  readonly code: string;
  readonly zip: string;
  readonly timeZone: string;
  /** Hours behind UTC the whole year: an invented world has no summer time. */
  readonly hoursBehindUtc: number;
  readonly location: { readonly lng: number; readonly lat: number };
}

/** One patient service center of a lab. */
export interface Center extends Place {
  readonly labId: number;
  readonly name: string;
  readonly firstLine: string;
  readonly city: string;
  readonly state: string;
  /** From the middle of its zip code, in miles. */
  readonly distance: number;
  readonly capabilities: readonly string[];
}

interface Area extends Omit<Place, 'code'> {
  readonly city: string;
  readonly state: string;
  /** Whether phlebotomists come here. */
  readonly isServed: boolean;
}

const phoenix = { city: 'Phoenix', state: 'AZ', timeZone: 'America/Phoenix', hoursBehindUtc: 7 };
const austin = { city: 'Austin', state: 'TX', timeZone: 'America/Chicago', hoursBehindUtc: 6 };
const denver = { city: 'Denver', state: 'CO', timeZone: 'America/Denver', hoursBehindUtc: 7 };
const onalaska = { city: 'Onalaska', state: 'WI', timeZone: 'America/Chicago', hoursBehindUtc: 6 };
const boston = { city: 'Boston', state: 'MA', timeZone: 'America/New_York', hoursBehindUtc: 5 };

const areas: readonly Area[] = [
  { ...phoenix, zip: '85004', location: { lng: -112.07, lat: 33.45 }, isServed: true },
  { ...austin, zip: '78701', location: { lng: -97.74, lat: 30.27 }, isServed: true },
  { ...denver, zip: '80202', location: { lng: -105.0, lat: 39.75 }, isServed: true },
  { ...onalaska, zip: '54650', location: { lng: -91.23, lat: 43.88 }, isServed: true },
  { ...boston, zip: '02108', location: { lng: -71.06, lat: 42.36 }, isServed: false },
];

const viaService = ['stat', 'appointment_scheduling_via_junction'];
/** Labs with service centers, in the slugs of the public service; appointments are made with the first only. */
export const centerLabs = [
  { id: 6, slug: 'quest', capabilities: viaService },
  { id: 27, slug: 'labcorp', capabilities: ['appointment_scheduling_with_lab'] },
] as const;

const centers: readonly Center[] = areas.flatMap((area, areaIndex) =>
  centerLabs.flatMap((lab, labIndex) =>
    [2, 8, 18, 40].map((distance, index): Center => {
      const number = areaIndex * 10 + labIndex * 100 + index + 1;
      return {
        code: `SC${String(number).padStart(3, '0')}`,
        labId: lab.id,
        name: `${area.city} Sample Center ${index + 1}`,
        firstLine: `${200 + number} Specimen Avenue`,
        city: area.city,
        state: area.state,
        zip: area.zip,
        timeZone: area.timeZone,
        hoursBehindUtc: area.hoursBehindUtc,
        location: { lng: area.location.lng - distance / 100, lat: area.location.lat },
        distance,
        // The third center of each area offers no appointments.
        capabilities: index === 2 ? ['stat'] : lab.capabilities,
      };
    }),
  ),
);

/** Whether phlebotomists come to this zip code. */
export function isServed(zip: string): boolean {
  return areas.some((area) => area.zip === zip.slice(0, 5) && area.isServed);
}

/** The area of a zip code as a place; an unknown one looks like the first. */
export function homePlaceOf(zip: string): Place {
  const [first] = areas;
  const area = areas.find((each) => each.zip === zip.slice(0, 5)) ?? first;
  if (area === undefined) throw new Error('The world has no areas.');
  return { ...area, code: `home-${area.zip}` };
}

/** The place that an appointment or a booking key names. */
export function placeOfCode(code: string): Place | undefined {
  if (code.startsWith('home-')) return homePlaceOf(code.slice('home-'.length));
  return centers.find((center) => center.code === code);
}

export function centerOfCode(code: string): Center | undefined {
  return centers.find((center) => center.code === code);
}

/** The centers of a lab around a zip code, nearest first. */
export function centersNear(labId: number, zip: string, radius: number): readonly Center[] {
  return centers.filter(
    (center) => center.labId === labId && center.zip === zip && center.distance <= radius,
  );
}

export function canBook(center: Center): boolean {
  return center.capabilities.includes('appointment_scheduling_via_junction');
}
