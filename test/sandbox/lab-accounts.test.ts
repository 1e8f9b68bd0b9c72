import { expect, test } from 'vitest';
import { at, openSandbox } from './support.ts';

interface AccountList {
  readonly data: readonly { readonly id: string; readonly status: string; readonly delegated_flow: string }[];
}

interface MarkerPage {
  readonly markers: readonly {
    readonly name: string;
    readonly lab_id: number;
    readonly aoe: {
      readonly questions: readonly { readonly code: string; readonly sequence: number }[];
    } | null;
  }[];
}

const path = '/v3/lab_test/lab_account';

test('The team has three lab accounts, one of them pending', async () => {
  await using service = openSandbox();
  const { status, body } = await service.ask<AccountList>('GET', path);
  expect(status).toBe(200);
  expect(body.data.map((account) => [account.status, account.delegated_flow])).toEqual([
    ['active', 'not_delegated'],
    ['active', 'order_delegated'],
    ['pending', 'fully_delegated'],
  ]);
});

test('Lab accounts are filtered by id and by status', async () => {
  await using service = openSandbox();
  const { body } = await service.ask<AccountList>('GET', path);
  const one = at(body.data, 1);
  expect((await service.ask<AccountList>('GET', `${path}?lab_account_id=${one.id}`)).body.data).toEqual([
    one,
  ]);
  expect((await service.ask<AccountList>('GET', `${path}?status=pending`)).body.data).toEqual([
    at(body.data, 2),
  ]);
  expect((await service.ask<AccountList>('GET', `${path}?status=suspended`)).body.data).toEqual([]);
  expect((await service.ask('GET', `${path}?status=PENDING`)).status).toBe(422);
  expect((await service.ask('GET', `${path}?lab_account_id=zzz`)).status).toBe(422);
});

test('Some markers ask questions when they are ordered, at one lab', async () => {
  await using service = openSandbox();
  const { body } = await service.ask<MarkerPage>('GET', '/v3/lab_tests/markers?size=100');
  const asking = body.markers.filter(({ aoe }) => aoe !== null);
  expect(
    asking.map(({ name, lab_id, aoe }) => [name, lab_id, aoe?.questions.map(({ code }) => code)]),
  ).toEqual([
    ['Testosterone, Total', 27, ['MEDICATION']],
    ['Estradiol', 27, ['MEDICATION', 'CYCLE_PHASE']],
    ['Insulin', 27, ['HOURS_SINCE_MEAL', 'FASTING']],
  ]);
});
