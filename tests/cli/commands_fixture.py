"""What tests of commands share: a folder to work in, commands that must do, and refusals in one line."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

PARTWISE = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([PARTWISE, *map(str, arguments)], capture_output=True, text=True)


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def done(cls, *arguments):
        result = run(*arguments)
        assert result.returncode == 0, result.stderr
        return result

    def refused(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stderr)
        lines = [line for line in result.stderr.splitlines()
                 if line and not line.startswith(("note", "measuring", "verifying"))]
        self.assertEqual(len(lines), 1, result.stderr)
        for word in words:
            self.assertIn(word, lines[0])
