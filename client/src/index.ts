// biome-ignore-all lint/performance/noBarrelFile: the package's entry; importing it has no side effect
export {
  createLabgraphClient,
  type FollowOptions,
  type LabgraphClient,
  type LabgraphClientOptions,
  type RequestOptions,
} from './client.ts';
export type { GraphQLDocument, ParsedDocument, TextDocument } from './document.ts';
export { type GraphQLErrorEntry, LabgraphError, type LabgraphErrorCode } from './errors.ts';
export type { Updates } from './follow.ts';
export type { TokenProvider, TokenReason } from './token.ts';
