/** The `nodeId` of the object of this type with this id. */
export function nodeIdOf(type: string, id: string): string {
  return Buffer.from(`${type}:${id}`).toString('base64url');
}
