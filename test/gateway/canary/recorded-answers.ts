import type { SpoiltLab } from '../../support/spoilt-lab.ts';

/** An answer of the gateway: the caller's own values apart from everything else. */
export interface RecordedAnswer {
  readonly status: number;
  /** Errors and headers. */
  readonly beside: string;
  readonly whole: string;
}

/** A lab whose answers are all recorded. */
export function recordAnswers(lab: SpoiltLab): {
  readonly lab: SpoiltLab;
  readonly answers: readonly RecordedAnswer[];
} {
  const answers: RecordedAnswer[] = [];
  const fetch = async (request: Request) => {
    const response = await lab.gateway.fetch(request);
    const body = await response.clone().text();
    const { status } = response;
    // Where a launch goes on to is the link itself.
    const headers = [...response.headers].filter(([name]) => status !== 303 || name !== 'location');
    answers.push({ status, beside: JSON.stringify([headers, errorsIn(body)]), whole: body });
    return response;
  };
  return { answers, lab: { ...lab, gateway: { ...lab.gateway, fetch } } };
}

/** The parts of an answer that are no data; an answer without data as a whole. */
function errorsIn(body: string): unknown {
  try {
    const answer = JSON.parse(body);
    return answer.data ? [answer.errors, answer.extensions, refusalsIn(answer.data)] : body;
  } catch {
    return body.startsWith('%PDF') ? '' : body;
  }
}

/** Results of mutations that are refusals. */
function refusalsIn(data: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Object.values(data).filter(
    (result) => typeof result === 'object' && result !== null && ('message' in result || 'issues' in result),
  );
}
