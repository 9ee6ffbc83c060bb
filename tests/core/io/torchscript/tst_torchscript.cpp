// TorchScript archives from the reference set: what they are, their graphs, their values, and what broken ones do.

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "core/analysis/compare.h"
#include "core/document/document.h"
#include "core/io/npz/npz.h"
#include "core/io/torchscript/archive.h"
#include "core/io/torchscript/pickle.h"
#include "core/io/torchscript/syntax.h"
#include "tests/support/reference_sets.h"

namespace tst_torchscript {

using namespace sonde;

namespace {

std::string dataPath(const QString& name) { return (test::referenceModels() + '/' + name).toStdString(); }

QByteArray contents(const std::string& path) {
    QFile file(QString::fromStdString(path));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

std::span<const std::byte> bytesOf(const std::string& text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

class TestTorchScript : public QObject {
    Q_OBJECT

  private slots:
    /// All cases of the reference, outputs and the nodes that correspond.
    void valuesEqualTheReference_data() {
        QTest::addColumn<QString>("archive");
        const QDir folder(test::referenceModels());
        for (const QString& file : folder.entryList({"*.trace.pt", "*.script.pt", "*.frozen.pt"})) {
            if (folder.exists(file.section('.', 0, 0) + ".npz")) QTest::newRow(qPrintable(file)) << file;
        }
    }
    void valuesEqualTheReference() {
        QFETCH(QString, archive);
        const auto document = document::open(dataPath(archive));
        QVERIFY2(document, document ? "" : document.error().text().c_str());
        const auto npz = io::NpzFile::open(dataPath(archive.section('.', 0, 0) + ".npz"));
        QVERIFY(npz);
        analysis::ComparedModel model;
        model.graph = (*document)->graph;
        model.looseNames = true;
        for (const document::NamedNode& input : (*document)->inputs) model.inputs.emplace_back(input.name, input.node);
        for (const document::NamedNode& output : (*document)->outputs)
            model.outputs.emplace_back(output.name, output.node);
        const analysis::ReferenceValues reference{npz->keys(),
                                                  [&npz](const std::string& key) { return npz->read(key); }};
        exec::Runner runner(1);
        const auto cases = analysis::compare(model, reference, {1e-3, 1e-4}, runner);
        QVERIFY2(cases, cases ? "" : cases.error().text().c_str());
        for (const analysis::ComparedCase& result : *cases) {
            if (result.error) QFAIL(result.error->text().c_str());
            if (const analysis::ComparedValue* first = result.firstDiverging())
                QFAIL((result.label + ": " + first->name + " " + first->note).c_str());
        }
    }

    void otherTorchFilesAreRefusedWithAHint_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("what");
        QTest::newRow("state dict") << "mlp_functional.state_dict.pt"
                                    << "state dict";
        QTest::newRow("legacy") << "mlp_functional.legacy.pt"
                                << "before version 1.6";
    }
    void otherTorchFilesAreRefusedWithAHint() {
        QFETCH(QString, file);
        QFETCH(QString, what);
        const auto document = document::open(dataPath(file));
        QVERIFY(!document);
        QCOMPARE(document.error().exitStatus(), 3);
        QVERIFY(QString::fromStdString(document.error().what).contains(what));
        QVERIFY(QString::fromStdString(document.error().hint).contains("torch.jit.trace("));
        QVERIFY(QString::fromStdString(document.error().hint).contains("torch.jit.save("));
    }

    /// Cut at 20 places and with 200 flipped bits: an error or a graph, never a crash.
    void damagedArchivesNeverCrash() {
        const QByteArray good = contents(dataPath("script_features.script.pt"));
        QVERIFY(!good.isEmpty());
        const QTemporaryDir folder;
        const std::string path = folder.filePath("x.pt").toStdString();
        const auto tryIt = [&](const QByteArray& bytes) {
            QFile file(QString::fromStdString(path));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(bytes);
            file.close();
            const auto document = document::open(path);
            if (!document) QCOMPARE(document.error().exitStatus(), 3);
        };
        for (int i = 0; i < 20; ++i) tryIt(good.left(good.size() * i / 20));
        std::uint32_t state = 12345;
        for (int i = 0; i < 200; ++i) {
            QByteArray bytes = good;
            state = state * 1664525U + 1013904223U;
            const auto at = static_cast<qsizetype>(state >> 4U) % bytes.size();
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << (state & 7U)));
            tryIt(bytes);
        }
    }

    /// Whoever frees or reads a value recurses: nesting is bounded, also through the memo.
    void picklesDoNotNestWithoutEnd() {
        std::string nested = "\x80\x02)";
        for (int i = 0; i < 100000; ++i) nested += '\x85';
        nested += '.';
        QVERIFY(!io::readPickle(bytesOf(nested), {}, "test"));
        const std::string itself = std::string("\x80\x02]q\0h\0a.", 9);
        const auto result = io::readPickle(bytesOf(itself), {}, "test");
        QVERIFY(!result);
        QVERIFY(QString::fromStdString(result.error().what).contains("contains itself"));
    }

    void pickledValuesAreRead() {
        // pickletools: PROTO 2, EMPTY_DICT, BINUNICODE 'a', BININT1 7, SETITEM, STOP
        const std::string pickle = std::string("\x80\x02}X\x01\0\0\0aK\x07s.", 13);
        const auto result = io::readPickle(bytesOf(pickle), {}, "test");
        QVERIFY(result);
        QCOMPARE(result->dictItems().front().first.toString(), std::string("a"));
        QCOMPARE(result->dictItems().front().second.toInt(), 7);
    }

    void deepSourcesAreRefused() {
        const std::string deep = "def f(x: Tensor) -> Tensor:\n  return " + std::string(100000, '(') + "\n";
        QVERIFY(!io::script::parseSource(deep, "deep.py"));
        std::string blocks = "def f(x: Tensor) -> Tensor:\n";
        for (int i = 1; i < 2000; ++i) blocks += std::string(static_cast<std::size_t>(i), ' ') + "if x:\n";
        QVERIFY(!io::script::parseSource(blocks, "deep.py"));
    }

    void sourcesAreParsed() {
        const auto unit = io::script::parseSource(
            "class A(Module):\n  __parameters__ = [\"w\", ]\n  w : Tensor\n  k : Final[int] = 3\n"
            "  def forward(self: __torch__.A,\n    x: Tensor) -> Tensor:\n"
            "    a, b, = torch.chunk(x, 2)\n    return torch.add(a, -1.5e-05, alpha=2)\n",
            "a.py");
        QVERIFY2(unit, unit ? "" : unit.error().text().c_str());
        const io::script::ClassDef& type = unit->classes.front();
        QCOMPARE(type.parameters, std::vector<std::string>{"w"});
        QVERIFY(type.attributes[1].isFinal);
        const io::script::FunctionDef& forward = *type.method("forward");
        QCOMPARE(forward.result, std::string("Tensor"));
        QVERIFY(forward.body[0].unpack);
        QCOMPARE(forward.body[1].value.parts[2].parts[0].number, 1.5e-05);
        QCOMPARE(forward.body[1].value.keywords[0].first, std::string("alpha"));
    }
};

QTEST_GUILESS_MAIN(TestTorchScript)

}  // namespace tst_torchscript

#include "tst_torchscript.moc"
