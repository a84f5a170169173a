import { render } from 'preact';
import '../styles/base.css';
import '../styles/parts.css';
import '../styles/bar.css';
import '../styles/panel.css';
import 'uplot/dist/uPlot.min.css';
import { App } from './app.tsx';
import { applyTheme } from './theme.ts';

applyTheme();
const place = document.getElementById('app');
if (place !== null) render(<App />, place);
