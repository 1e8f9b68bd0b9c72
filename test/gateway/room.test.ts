import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Keepsake, makeRoom } from '../../gateway/cache/room.ts';

interface Thing extends Keepsake {
  readonly isHeld: boolean;
}

/** A shelf with room for so many, which keeps things in the order they came. */
function openShelf(most: number) {
  const kept = new Map<string, Thing>();
  const givenUp: string[] = [];
  return {
    givenUp,
    names: () => [...kept.keys()],
    ask: (name: string) => {
      const found = kept.get(name);
      if (found !== undefined) found.wasAsked = true;
    },
    put: (name: string, isHeld = false) => {
      const newest: Thing = { isHeld, wasAsked: false };
      kept.delete(name);
      kept.set(name, newest);
      makeRoom(kept, {
        newest,
        isFull: () => kept.size > most,
        mayGo: (thing) => !thing.isHeld,
        giveUp: (key) => {
          kept.delete(key);
          givenUp.push(key);
        },
      });
    },
  };
}

describe('where there is no room', () => {
  test('the oldest goes that nobody asked for', () => {
    const shelf = openShelf(2);
    for (const name of ['a', 'b']) shelf.put(name);
    shelf.ask('a');
    shelf.put('c');
    expect(shelf.givenUp).toEqual(['b']);
  });

  test('who was asked for once is passed over once', () => {
    const shelf = openShelf(2);
    for (const name of ['a', 'b']) shelf.put(name);
    shelf.ask('a');
    for (const name of ['c', 'd', 'e']) shelf.put(name);
    expect(shelf.givenUp).toEqual(['b', 'c', 'a']);
  });

  test('the newest stays where all others were asked for', () => {
    const shelf = openShelf(2);
    for (const name of ['a', 'b']) shelf.put(name);
    for (const name of ['a', 'b']) shelf.ask(name);
    shelf.put('c');
    expect(shelf.givenUp).toEqual(['a']);
  });

  test('and none at all, the newest goes as well', () => {
    const shelf = openShelf(0);
    shelf.put('a');
    expect(shelf.names()).toEqual([]);
  });

  test('what may not go stays', () => {
    const shelf = openShelf(1);
    shelf.put('a', true);
    shelf.put('b');
    expect(shelf.names()).toEqual(['a']);
  });
});

test('whatever is put and asked for, no more is kept than there is room for, and the newest of it is', () => {
  const step = fc.record({ name: fc.constantFrom(...'abcdefgh'), isPut: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (steps, most) => {
      const shelf = openShelf(most);
      for (const { name, isPut } of steps) {
        if (!isPut) shelf.ask(name);
        else {
          shelf.put(name);
          expect(shelf.names()).toContain(name);
        }
        expect(shelf.names().length).toBeLessThanOrEqual(most);
      }
    }),
  );
});
