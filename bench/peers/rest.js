/** The paths of the service, as all peers ask for them. */
export const listUsersPath = (first) => `/v2/user/?offset=0&limit=${first}`;

export const listOrdersPath = (userId, first) =>
  `/orders?user_id=${encodeURIComponent(userId)}&page=1&size=${first}&order_key=created_at&order_direction=desc`;

export const orderPath = (orderId) => `/v3/order/${encodeURIComponent(orderId)}`;

export const userPath = (userId) => `/v2/user/${encodeURIComponent(userId)}`;

/** @throws Error where a variable is missing: the bench gives them all */
export function readSettings() {
  const { SERVICE_URL, PORT } = process.env;
  if (!SERVICE_URL || !PORT) throw new Error('SERVICE_URL and PORT are needed.');
  return { serviceUrl: SERVICE_URL, port: Number(PORT) };
}

/** The line that the bench waits for. */
export function reportReady() {
  process.stdout.write('Listening on the port that was given\n');
}
