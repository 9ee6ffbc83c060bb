// Programs that change tensors in place through parts of them: every name of the memory means the new value.
// Archives and values: tests/data/writes (generate.py).

#include <QDir>
#include <QRegularExpression>
#include <QtTest>

#include "core/analysis/compare.h"
#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/io/npz/npz.h"

namespace tst_torchscript_writes {

using namespace sonde;

namespace {

std::string dataPath(const QString& name) {
    return (QStringLiteral(SONDE_SOURCE_DIR "/tests/data/writes/") + name).toStdString();
}

std::shared_ptr<const document::Document> open(const QString& archive, const QString& tracer, bool noLeaves) {
    document::OpenOptions options;
    options.tracer = tracer.toStdString();
    if (noLeaves) options.leaves = {"none"};
    if (tracer == "traced-module") options.inputData = dataPath(archive.section('.', 0, 0) + ".npz");
    auto opened = document::open(dataPath(archive), options);
    if (!opened) qWarning("%s", opened.error().text().c_str());
    return opened ? *opened : nullptr;
}

QStringList operators(const graph::InternalGraph& graph) {
    QStringList names;
    for (graph::ExprId id : graph.main().order) names << QString::fromStdString(graph.expr(id).op.name);
    names.removeAll(QString());
    return names;
}

}  // namespace

class TestTorchScriptWrites : public QObject {
    Q_OBJECT

  private slots:
    void everyTracerGivesTorchsValues_data() {
        QTest::addColumn<QString>("archive");
        QTest::addColumn<QString>("tracer");
        QTest::addColumn<bool>("noLeaves");
        const QStringList archives = QDir(QStringLiteral(SONDE_SOURCE_DIR "/tests/data/writes")).entryList({"*.pt"});
        QVERIFY(archives.size() >= 18);
        for (const QString& archive : archives) {
            for (const char* tracer : {"", "module-path", "robust", "custom", "traced-module"}) {
                // Loops on the data: fx refuses them, a run with values takes one way. A module that changes what its
                // caller has cannot be a graph of its own.
                const bool isLoop = archive.startsWith("loop_");
                if (isLoop && (tracer == QLatin1String("module-path") || tracer == QLatin1String("traced-module")))
                    continue;
                if (archive.startsWith("inplace") && tracer == QLatin1String("traced-module")) continue;
                for (const bool noLeaves : {false, true}) {
                    QTest::newRow(qPrintable(archive + ' ' + tracer + (noLeaves ? " as written" : "")))
                        << archive << QString(tracer) << noLeaves;
                }
            }
        }
    }
    void everyTracerGivesTorchsValues() {
        QFETCH(QString, archive);
        QFETCH(QString, tracer);
        QFETCH(bool, noLeaves);
        const auto document = open(archive, tracer, noLeaves);
        QVERIFY(document);
        const auto valid = document->graph->validate();
        QVERIFY2(valid.has_value(), valid ? "" : valid.error().text().c_str());
        const bool mayBeOpaque = tracer == "robust" && archive.startsWith("loop_");  // as fx has it
        for (const base::Diagnostic& finding : document->diagnostics)
            QVERIFY2(mayBeOpaque || finding.what.find("opaque") == std::string::npos, finding.what.c_str());

        const auto npz = io::NpzFile::open(dataPath(archive.section('.', 0, 0) + ".npz"));
        QVERIFY(npz);
        analysis::ComparedModel model;
        model.graph = document->graph;
        for (const document::NamedNode& input : document->inputs) model.inputs.emplace_back(input.name, input.node);
        for (const document::NamedNode& output : document->outputs)
            model.outputs.emplace_back(output.name, output.node);
        const analysis::ReferenceValues reference{(*npz).keys(),
                                                  [&npz](const std::string& key) { return (*npz).read(key); }};
        exec::Runner runner(1);
        const auto cases = analysis::compare(model, reference, {1e-4, 1e-5}, runner);
        QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
        QCOMPARE(cases->size(), std::size_t(2));
        for (const analysis::ComparedCase& result : *cases) {
            QVERIFY2(!result.error, result.error ? result.error->text().c_str() : "");
            QVERIFY(!result.values.empty());
            for (const analysis::ComparedValue& value : result.values) {
                QVERIFY2(value.ok,
                         qPrintable(QString("%1: %2").arg(QString::fromStdString(value.name)).arg(value.maxAbsolute)));
            }
        }
    }

    /// `y[:, 0] = v` is one node for people, as with fx; the part that nothing uses is not there.
    void anAssignmentIsOneNode() {
        const auto document = open("windows.script.pt", "", false);
        QVERIFY(document);
        const QStringList names = operators(*document->graph);
        QCOMPARE(names.count("setitem"), 9);
        QCOMPARE(names.count("getitem"), 0);
        QCOMPARE(names.count("copy_"), 0);
    }

    /// The archive's own operators stay; what the base becomes of it follows where it is read.
    void asWrittenTheOperatorsStay() {
        const auto document = open("column.trace.pt", "", true);
        QVERIFY(document);
        const QStringList names = operators(*document->graph);
        QCOMPARE(names.filter(QRegularExpression("^fill_")).size(), 1);
        QCOMPARE(names.count("copy_"), 2);
        QVERIFY(names.indexOf("setitem") > names.indexOf(QRegularExpression("^fill_.*")));
    }
};

QTEST_GUILESS_MAIN(TestTorchScriptWrites)

}  // namespace tst_torchscript_writes

#include "tst_torchscript_writes.moc"
