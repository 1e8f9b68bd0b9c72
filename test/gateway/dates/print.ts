import process from 'node:process';
import { readLabReport } from '../../../gateway/domain/lab-report/rest.ts';
import { day, timestamp } from '../../../gateway/domain/parse.ts';
import { readOrderResults } from '../../../gateway/domain/result/rest.ts';

/** Reads the texts of its argument (a JSON list) as dates and prints what came of each. */
const texts: readonly string[] = JSON.parse(process.argv[2] ?? '[]');

const read = texts.map((text) => {
  const dates = { date_collected: text, date_received: { timestamp: text, timezone_offset: -18_000 } };
  return {
    instant: timestamp(text),
    day: day(text),
    results: readOrderResults({ metadata: dates, sample_information: { one: dates } }),
    report: readLabReport(
      { id: 'r', data: { metadata: { ...dates, date_reported: text, dob: text } } },
      null,
    ),
  };
});
process.stdout.write(JSON.stringify(read));
