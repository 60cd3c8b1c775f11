"""Tests stores and downloads in the package, in an environment with NumPy and pandas: store_test.py STORE.

STORE is a store with two records (experiments/store/testdata/version_3).
"""
import http.server
import importlib.util
import hashlib
import lzma
import os
import pathlib
import sys
import tempfile
import threading
import unittest
import zipfile
from unittest import mock

import openset

STORE = os.path.abspath(sys.argv[1])


class StoreTest(unittest.TestCase):
    def setUp(self):
        self.store = openset.open_store(STORE)

    def test_rows(self):
        found = self.store.records("method=openauc")
        self.assertEqual([(row["method"], row["split"], row["openauc"]) for row in found.rows], [("openauc", 1, 0.8125)])
        self.assertEqual(found.metric_names(), ["openauc"])
        both = self.store.records() + found
        self.assertEqual(list(both.to_frame()["method"]), ["openauc", "softmax", "openauc"])
        with self.assertRaisesRegex(ValueError, "the records ([0-9a-f]{12}) and \\1 are of one run .*method openauc"):
            openset.compare(both)
        self.assertEqual([(row["split"], row["seed"], row["lambda"]) for row in found.rows], [(1, 7, 0.1)])
        self.assertEqual([type(found.rows[0][name]) for name in ("seed", "task", "openauc")], [int, str, float])
        with self.assertRaisesRegex(ValueError, "did you mean 'openauc'"):
            self.store.records("openauk>0.5")

    def test_compare_takes_records(self):
        for records in (self.store.records(), self.store.records().to_frame()):
            # The store was upgraded: a record's former id is no setting.
            with self.assertRaisesRegex(ValueError, "openauc: openauc and softmax on .*no run .split and seed. in common"):
                openset.compare(records)

    def test_a_query_is_a_query(self):
        for query, message in (("--store=/nowhere", "unknown field of these records '--store'"), ("--help", "--help"),
                               ("--", "'--' is not a comparison"), (" ", "the query is blank"),
                               ("trial=9", "first 4 digits")):
            with self.assertRaisesRegex(ValueError, message):
                self.store.records(query)
        with self.assertRaisesRegex(ValueError, "'--brief' is not a trial"):
            self.store.record("--brief")
        self.assertEqual(len(self.store.records()), 2)

    def test_one_record(self):
        record = self.store.record("242d")
        self.assertEqual(record.metrics, {"openauc": 0.8125, "aurc": None})
        self.assertEqual(record.spec["seed"], "7")
        self.assertEqual(list(record.epochs()["loss"]), [1.5])
        self.assertEqual(list(record.curves().columns), ["curve", "set", "x", "y"])
        with self.assertRaisesRegex(ValueError, "no longer exists"):
            record.outputs()

    def test_trackers_get_parameters_and_metrics(self):
        mlflow = mock.MagicMock()
        with mock.patch.dict(sys.modules, mlflow=mlflow):
            self.store.records("seed=7").to_mlflow("mine")
        mlflow.set_experiment.assert_called_once_with("mine")
        mlflow.log_metrics.assert_called_once_with({"openauc": 0.8125})
        self.assertEqual(mlflow.log_params.call_args[0][0]["lambda"], 0.1)
        wandb = mock.MagicMock()
        with mock.patch.dict(sys.modules, wandb=wandb):
            self.store.records().to_wandb("mine")
        self.assertEqual([call[1]["name"] for call in wandb.init.call_args_list],
                         ["openauc fashion_mnist_6_4 1 7", "softmax fashion_mnist_6_4 1 8"])
        wandb.init.return_value.summary.update.assert_called_with({"openauc": 0.8125})

    def test_absent_trackers_are_named(self):
        for name, call in (("mlflow", lambda found: found.to_mlflow()), ("wandb", lambda found: found.to_wandb("a"))):
            with mock.patch.dict(sys.modules, {name: None}):
                with self.assertRaisesRegex(ImportError, f"pip install {name}"):
                    call(self.store.records())

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "no pyarrow")
    def test_parquet(self):
        import pandas
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "records.parquet")
            self.store.records().to_parquet(path)
            self.assertEqual(list(pandas.read_parquet(path)["openauc"]), [0.8125, 0.8125])


@unittest.skipUnless(importlib.util.find_spec("google") and importlib.util.find_spec("google.protobuf"), "no Protobuf")
class ProtosTest(unittest.TestCase):
    def test_a_message_has_what_the_json_has(self):
        from openset import protos
        record = openset.open_store(STORE).record("242d")
        message = record.message()
        self.assertIsInstance(message, protos.TrialRecord)
        self.assertEqual((message.trial_id, message.trial.seed), (record.trial, 7))
        self.assertEqual({metric.name: metric.value for metric in message.metric if metric.HasField("value")},
                         {"openauc": 0.8125})

    def test_enumerations_and_unknown_names(self):
        from openset import protos
        self.assertEqual(protos.RecordedCurve.Kind.Value("OSCR"), protos.RecordedCurve.OSCR)
        self.assertEqual(protos.AverageOver.keys()[0], protos.AverageOver.Name(0))
        with self.assertRaisesRegex(AttributeError, "'TrialRekord'"):
            protos.TrialRekord  # noqa: B018

    def test_bundles(self):
        from openset import _program, protos
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "two.zip")
            _program.run(["records", "export", f"--bundle={path}", f"--store={STORE}"])
            self.assertEqual([(record.trial.method.name, record.trial.seed) for record in protos.read_bundle(path)],
                             [("openauc", 7), ("softmax", 8)])
            with zipfile.ZipFile(path) as bundle:
                files = {name: bundle.read(name) for name in bundle.namelist()}
                comment = bundle.comment
            # Zipped again: with the same files, but another digest.
            for last in (b"", comment):
                with zipfile.ZipFile(path, "w") as bundle:
                    for name, content in files.items():
                        bundle.writestr(name, content)
                    bundle.comment = last
                with self.assertRaisesRegex(ValueError, "two.zip: is not a bundle of records, or not as it was exported"):
                    list(protos.read_bundle(path))
            stream = lzma.decompress(files["records.tar.xz"])

            def write(content):  # with the digest of a bundle
                with zipfile.ZipFile(path, "w") as bundle:
                    bundle.writestr("records.tar.xz", content)
                    bundle.comment = b"openset bundle sha256:" + bytes(64)
                signed = path.read_bytes()[:-64]
                path.write_bytes(signed + hashlib.sha256(signed).hexdigest().encode())

            write(lzma.compress(stream.replace(b"softmax", b"softmix")))
            with self.assertRaisesRegex(ValueError, "two.zip: records/../.*: the record is corrupt"):
                list(protos.read_bundle(path))
            for content in (lzma.compress(stream)[:-40], b"", stream):
                write(content)
                with self.assertRaisesRegex(ValueError, "two.zip: is not a bundle of records"):
                    list(protos.read_bundle(path))
            path.write_bytes(b"PK")
            with self.assertRaisesRegex(ValueError, "two.zip: is not a bundle of records"):
                list(protos.read_bundle(path))


class ProgressTest(unittest.TestCase):
    def test_bar(self):
        from openset._progress import Bar
        shown = mock.MagicMock()
        with Bar(shown) as bar:
            bar.line("quickstart: 20 of 20 trials to run")
            bar.line("[ 3/12] trained   softmax, <split 0> (12s)")
        self.assertEqual(shown.return_value.update.call_count, 1)
        self.assertEqual(bar._repr_html_(), "<progress value='0.250' max='1'></progress> "
                                            "[ 3/12] trained   softmax, &lt;split 0&gt; (12s)")


class Served(http.server.BaseHTTPRequestHandler):
    content = bytes(range(256)) * 400

    def do_GET(self):  # noqa: N802
        if self.path == "/absent":
            return self.send_error(404)
        begin = int(self.headers.get("Range", "bytes=0-").split("=")[1].rstrip("-"))
        if self.path == "/whole" and begin:
            begin = 0
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(self.content) - begin))
        self.end_headers()
        self.wfile.write(self.content[begin:] if self.path != "/broken" else self.content[begin:begin + 7])

    def log_message(self, *_):
        pass


class CurlTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Served)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()

    def fetch(self, path, before=b"", most=10**6, protocols="=http"):
        from openset import _curl
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "part")
            out.write_bytes(before)
            code = _curl.main(["--fail", "--location", "--retry", "0", "--speed-time", "60", "--silent", "--globoff",
                               "--proto", protocols, "--proto-redir", protocols, "--max-filesize", str(most),
                               "--continue-at", "-", "--output", str(out), "--dump-header", f"{folder}/head", "--url",
                               f"http://127.0.0.1:{self.server.server_address[1]}{path}"])
            return code, out.read_bytes()

    def test_exit_codes_are_those_of_curl(self):
        content = Served.content
        self.assertEqual(self.fetch("/file"), (0, content))
        self.assertEqual(self.fetch("/file", before=content[:1000]), (0, content))
        self.assertEqual(self.fetch("/whole", before=b"x"), (33, b"x"))
        self.assertEqual(self.fetch("/absent")[0], 22)
        self.assertEqual(self.fetch("/file", most=100)[0], 63)
        self.assertEqual(self.fetch("/broken"), (18, content[:7]))
        self.assertEqual(self.fetch("/file", protocols="=https")[0], 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
