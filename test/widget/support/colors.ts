/** Red, green, blue (0 to 255) and alpha (0 to 1). */
type Color = readonly [number, number, number, number];

/** The contrast of an element's text with what is behind it, by the formula of WCAG 2.2: from 1 to 21. */
export function contrastOf(element: Element): number {
  const behind = readAround(element).reduceRight<Color>(
    (below, around) => blend(readColor(getComputedStyle(around).backgroundColor), below),
    [255, 255, 255, 1],
  );
  const [darker, lighter] = [behind, blend(readColor(getComputedStyle(element).color), behind)]
    .map(luminanceOf)
    .toSorted((a, b) => a - b);
  return ((lighter ?? 0) + 0.05) / ((darker ?? 0) + 0.05);
}

/** The element and everything around it as it is drawn, through slots and shadow roots. */
function readAround(element: Element): readonly Element[] {
  const root = element.getRootNode();
  const around =
    element.assignedSlot ?? element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
  return [element, ...(around ? readAround(around) : [])];
}

/** Any CSS colour, drawn by the browser and read back. */
function readColor(text: string): Color {
  const context = new OffscreenCanvas(1, 1).getContext('2d');
  if (!context) throw new Error('There is no canvas.');
  context.fillStyle = text;
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0, alpha = 0] = context.getImageData(0, 0, 1, 1).data;
  return [red, green, blue, alpha / 255];
}

function blend([red, green, blue, alpha]: Color, below: Color): Color {
  const over = (value: number, under: number) => value * alpha + under * (1 - alpha);
  return [over(red, below[0]), over(green, below[1]), over(blue, below[2]), 1];
}

function luminanceOf([red, green, blue]: Color): number {
  const [r = 0, g = 0, b = 0] = [red, green, blue].map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
