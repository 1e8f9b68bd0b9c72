/** What Vite gives of a file: the address it is served at, or its text. */
declare module '*?url' {
  const address: string;
  // biome-ignore lint/style/noDefaultExport: how Vite gives an address
  export default address;
}

declare module '*?raw' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: how Vite gives a text
  export default text;
}
