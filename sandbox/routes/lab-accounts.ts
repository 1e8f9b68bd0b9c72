import { Hono } from 'hono';
import { z } from 'zod';
import { readQuery } from '../http/validation.ts';
import type { SandboxEnv, Service } from '../service.ts';

const accountQuery = z.object({
  lab_account_id: z.guid().optional(),
  status: z.enum(['active', 'pending', 'suspended', 'ready_to_launch']).optional(),
});

/** The team's accounts with labs (specification: other operations with a known path). */
export function labAccountRoutes({ world: { catalogue } }: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

  routes.get('/v3/lab_test/lab_account', (c) => {
    const { lab_account_id, status } = readQuery(c, accountQuery);
    const accounts = catalogue.labAccounts
      .filter((account) => lab_account_id === undefined || account.id === lab_account_id.toLowerCase())
      .filter((account) => status === undefined || account.status === status);
    return c.json({ data: accounts });
  });

  return routes;
}
