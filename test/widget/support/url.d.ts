/** The address a file is served at. */
declare module '*?url' {
  const address: string;
  // biome-ignore lint/style/noDefaultExport: how Vite gives an address
  export default address;
}
