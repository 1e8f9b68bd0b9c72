const minuteMs = 60_000;

/** Runs an action at most once a minute and drops the rest: for warnings that could come by the thousand. */
export function createThrottle(): (action: () => void) => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  return (action) => {
    const now = Date.now();
    if (now - lastAt < minuteMs) return;
    lastAt = now;
    action();
  };
}
