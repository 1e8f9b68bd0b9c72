/**
 * The same part with some members replaced or added. All others are called on the part itself, so this also works for
 * instances of classes, whose methods a spread would lose.
 */
export function replaceMembers<Part extends object, Members extends object>(
  part: Part,
  members: Members,
): Part & Members {
  const replaced = new Proxy(part, {
    get: (target, name) => {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return replaced as Part & Members;
}
