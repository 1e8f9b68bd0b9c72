/** Until it is disposed, formats without a language, or in one that nobody knows, are in this one: as in a browser that speaks it. */
export function speakAtHome(language: string): Disposable {
  const { DateTimeFormat, NumberFormat, RelativeTimeFormat } = Intl;
  const { toLocaleString: write } = Date.prototype;
  const known = (locales: Intl.LocalesArgument) => {
    // Throws where a tag is none, as before.
    const supported = NumberFormat.supportedLocalesOf(locales === undefined ? [] : locales);
    return supported.length > 0 ? locales : language;
  };
  const answer = {
    construct: (Format: never, [locales, options]: never[]) =>
      Reflect.construct(Format, [known(locales as never), options]),
  };
  Object.assign(Intl, {
    DateTimeFormat: new Proxy(DateTimeFormat, answer as ProxyHandler<typeof DateTimeFormat>),
    NumberFormat: new Proxy(NumberFormat, answer as ProxyHandler<typeof NumberFormat>),
    RelativeTimeFormat: new Proxy(RelativeTimeFormat, answer as ProxyHandler<typeof RelativeTimeFormat>),
  });
  Date.prototype.toLocaleString = function (
    locales?: Intl.LocalesArgument,
    options?: Intl.DateTimeFormatOptions,
  ) {
    return write.call(this, known(locales), options);
  };
  return {
    [Symbol.dispose]: () => {
      Object.assign(Intl, { DateTimeFormat, NumberFormat, RelativeTimeFormat });
      Date.prototype.toLocaleString = write;
    },
  };
}
