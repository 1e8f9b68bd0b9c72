/** An answer other than 200, thrown where the reason is known and answered in one place. */
export class Refusal extends Error {
  readonly status: 400 | 401 | 403 | 404 | 409 | 413 | 422;
  readonly body: unknown;

  constructor(status: Refusal['status'], body: unknown) {
    super(`The sandbox refuses with ${status}.`);
    this.status = status;
    this.body = body;
  }
}

/** A refusal with one sentence as its `detail` (specification: error bodies are JSON with `detail`). */
export function refuse(status: Refusal['status'], detail: string): Refusal {
  return new Refusal(status, { detail });
}
