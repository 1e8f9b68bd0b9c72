/** What a refusal says, given back where the call asked for it: a class, so that no answer can be taken for one. */
export class Refusal {
  readonly json: Readonly<Record<string, unknown>>;

  constructor(json: Readonly<Record<string, unknown>>) {
    this.json = json;
  }
}
