const { getDefaultConfig, mergeConfig } = require('@react-native/metro-config');
const { join } = require('node:path');

const packages = join(__dirname, '..');

module.exports = mergeConfig(getDefaultConfig(__dirname), {
  watchFolders: [packages],
  resolver: { nodeModulesPaths: [join(packages, 'node_modules')], useWatchman: false },
  transformer: { babelTransformerPath: require.resolve('@react-native/metro-babel-transformer') },
});
