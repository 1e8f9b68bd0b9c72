import type { LabTest } from './catalogue.ts';
import { labs } from './lab-tests.ts';

function presentLab(lab: (typeof labs)[number]) {
  return {
    id: lab.id,
    slug: lab.slug,
    name: lab.name,
    first_line_address: '1 Example Plaza',
    city: lab.city,
    zipcode: '00000',
    collection_methods: lab.methods,
    sample_types: ['serum', 'dried_blood_spot'],
    logo_url: null,
  };
}

/** The id of the lab with this slug, if there is one. */
export function labIdOf(slug: string): number | undefined {
  return labs.find((lab) => lab.slug === slug)?.id;
}

/** The laboratories as the service shows them (public service: ClientFacingLab). */
export function presentLabs() {
  return labs.map(presentLab);
}

/** The lab test as the service shows it, without its markers (public service: ClientFacingLabTest). */
export function presentLabTest(labTest: LabTest) {
  const lab = labs.find((each) => each.id === labTest.labId);
  return {
    id: labTest.id,
    slug: labTest.slug,
    name: labTest.name,
    description: labTest.description,
    sample_type: labTest.sampleType,
    method: labTest.method,
    price: labTest.price,
    is_active: true,
    status: 'active',
    fasting: labTest.fasting,
    lab: lab ? presentLab(lab) : null,
    is_delegated: false,
    auto_generated: false,
    has_collection_instructions: labTest.method === 'testkit',
    common_tat_days: 3,
    worst_case_tat_days: 7,
  };
}
