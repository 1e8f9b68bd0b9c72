export class AnswerTimeout extends Error {}

const ticks = 6;

/**
 * Waits for an answer. Only the time in which this process runs counts: when a suspended machine resumes, expired timers
 * run before answers that have arrived are read. So the limit is counted in ticks, and a suspension counts as one tick.
 * @throws AnswerTimeout
 */
export async function within<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  let count = 0;
  const timer = setInterval(() => {
    count += 1;
    if (count === ticks) late.reject(new AnswerTimeout(`No answer in ${limitMs} ms.`));
  }, limitMs / ticks);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearInterval(timer);
  }
}
