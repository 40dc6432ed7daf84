"""The project's own files, for the checks."""

import os

SKIPPED_FOLDERS = {'build', '.git', '__pycache__'}
RECORDINGS = 'samples/recordings/'  # data: written by Erlang nodes, not by us
C_FOLDERS = ('host/', 'plugin_api/', 'plugins/', 'tracers/', 'samples/', 'tests/')


class Tree:
    def __init__(self, root):
        self.root = root
        self.files = sorted(self._walk())

    def _walk(self):
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), self.root)
                if not path.startswith(RECORDINGS) and not name.startswith('compile_commands'):
                    yield path

    def c_files(self):
        return [path for path in self.files
                if path.endswith(('.c', '.h')) and path.startswith(C_FOLDERS)]

    def lines(self, path):
        """Returns the lines of a text file; none of a binary one."""
        with open(os.path.join(self.root, path), 'rb') as file:
            content = file.read()
        return [] if b'\0' in content else content.decode('utf-8', 'replace').splitlines()
