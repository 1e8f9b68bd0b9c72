const { relative } = require('node:path');

module.exports = {
  src: './src',
  schema: relative(__dirname, require.resolve('@labgraph/client/schema.graphql')),
  language: 'typescript',
  eagerEsModules: true,
  // The id that is unique among all types, and by which Relay reads an object again.
  schemaConfig: { nodeInterfaceIdField: 'nodeId', nodeInterfaceIdVariableName: 'nodeId' },
};
