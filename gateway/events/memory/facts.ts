import { hashFactKey } from '../fact-key.ts';
import type { FactQuery, NewMessage, StoredFact } from '../log.ts';

interface KeptFact extends StoredFact {
  readonly userId: string;
  readonly kind: string;
  readonly key: string;
}

/** The facts of the memory log. */
export function createMemoryFacts() {
  const facts = new Map<string, KeptFact>();
  return {
    keep: ({ userId, receivedAt, facts: news = [] }: NewMessage, position: number): void => {
      if (userId === null) return;
      for (const { kind, at, value, ...fact } of news) {
        const key = hashFactKey(fact.key);
        facts.set(JSON.stringify([userId, kind, key]), {
          userId,
          kind,
          key,
          at,
          position,
          receivedAt,
          value,
        });
      }
    },
    read: (query: FactQuery, limit: number): readonly StoredFact[] =>
      [...facts.values()]
        .filter((fact) => matches(fact, query))
        .sort(newestFirst)
        .slice(0, limit)
        .map(({ at, position, receivedAt, value }) => ({ at, position, receivedAt, value })),
    prune: (through: number): void => {
      for (const [name, { position }] of facts) if (position <= through) facts.delete(name);
    },
  };
}

function matches(fact: KeptFact, query: FactQuery): boolean {
  return (
    fact.userId === query.userId &&
    fact.kind === query.kind &&
    (query.key === undefined || fact.key === hashFactKey(query.key)) &&
    (query.from === undefined || fact.at >= query.from) &&
    (query.before === undefined || fact.at < query.before)
  );
}

function newestFirst(one: KeptFact, two: KeptFact): number {
  return (
    two.at.getTime() - one.at.getTime() ||
    two.position - one.position ||
    (one.key > two.key ? -1 : Number(one.key < two.key))
  );
}
