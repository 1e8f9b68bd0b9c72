const minuteMs = 60_000;

/** Does what it is given at most once a minute, and drops the rest: for warnings that could come by the thousand. */
export function createSeldom(): (tell: () => void) => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  return (tell) => {
    const now = Date.now();
    if (now - lastAt < minuteMs) return;
    lastAt = now;
    tell();
  };
}
