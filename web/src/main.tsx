// The dashboard. It uses the public HTTP API and nothing else.
//
//   http.ts, api.ts   requests; every call of the API by noun
//   live.ts           the event stream and what is asked for again after a tick
//   route.ts          addresses (#/NAMESPACE/SCREEN/NAME?filter); state.ts what all of the page shares
//   parts/            tables, dialogs, charts, trees
//   screens/          a file for each screen
//
// Everything that the server sends is inserted as text. There is no inline code and no inline style.
import './style.css'
import { render } from 'preact'
import { App } from './shell.tsx'

render(<App />, document.getElementById('app') as HTMLElement)
