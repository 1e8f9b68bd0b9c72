/** The built module `portal-widget.js`: everything in one file, defined at once. */
import './define.ts';
