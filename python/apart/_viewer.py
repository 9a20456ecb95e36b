"""The viewer of runs."""

import os

from . import _apart


class Viewer:
    """Serves the page that plays runs, to this machine only, until it is closed or forgotten."""

    def __init__(self, runs, height=600, port=0):
        if not isinstance(port, int) or not 0 <= port <= 65535:
            raise _apart.InputError(f"port: got {port!r}, must be a whole number from 0 to 65535; 0: any that is free")
        self._server = _apart.ViewServer([os.fspath(run) for run in runs], port)
        self.height = height

    @property
    def address(self):
        if self._server is None:
            raise _apart.InputError("the viewer was closed; call view() again")
        return self._server.address

    def close(self):
        self._server = None

    def __repr__(self):
        return f"<Viewer at {self.address}>" if self._server else "<Viewer, closed>"

    def _repr_html_(self):
        return f'<iframe src="{self.address}" width="100%" height="{int(self.height)}" style="border:0"></iframe>'


def view(*runs, height=600, port=0):
    """Shows runs side by side: the result is a page in a cell of Jupyter; elsewhere open its `address`.

    height: of the cell [pixels]. port: on this machine, 0: any that is free. Where Jupyter runs on another machine, forward
    the port from there: ssh -L PORT:127.0.0.1:PORT machine.
    """
    if not runs:
        raise _apart.InputError("view: got no run, must be at least one; name run directories")
    return Viewer(runs, height, port)
