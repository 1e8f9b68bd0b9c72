// The entry of the app that Metro bundles: React Native's own networking, and the client on it.
// biome-ignore lint/suspicious/noReactNativeDeepImports: the whole of React Native needs a telephone.
require('react-native/Libraries/Core/setUpXHR');

globalThis.app = {
  ...require('@labgraph/client'),
  ...require('@labgraph/client/files'),
  AbortController: globalThis.AbortController,
};
