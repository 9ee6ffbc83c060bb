// Traced modules that are made of archives, saved and opened: values are those of the archives' reference
// files, which PyTorch has written.

#include <QTemporaryDir>

#include <algorithm>
#include <cmath>

#include "core/document/document.h"
#include "core/document/input_infos.h"
#include "core/exec/runner.h"
#include "core/io/inputs/inputs.h"
#include "core/io/npz/npz.h"
#include "core/io/traced_module/traced_module_file.h"
#include "tests/support/traced_models.h"

using namespace sonde;
using namespace sonde::test;
using SharedDocument = std::shared_ptr<const document::Document>;

namespace {

std::string model(const std::string& name) { return SONDE_TEST_DATA "/models/" + name; }

SharedDocument openedWith(const std::string& file, const std::string& inputs, const std::string& tracer = {}) {
    document::OpenOptions options;
    options.tracer = tracer;
    options.inputData = inputs;
    auto document = document::open(file, options);
    if (!document) qFatal("%s", document.error().text().c_str());
    return *document;
}

std::vector<Value> inputsFor(const document::Document& document, const std::string& spec) {
    const auto cases = io::makeInputs(spec, document::inputInfos(document));
    if (!cases) qFatal("%s", cases.error().text().c_str());
    return cases->front().values;
}

/// The first output of the document's graph; an empty value and the message if it cannot be run.
std::pair<Value, std::string> resultOf(const document::Document& document, const std::vector<Value>& inputs) {
    exec::Runner runner(1);
    const exec::Recording recording = runner.run(**exec::Plan::make(document.graph, {}), inputs);
    if (recording.error) return {Value(), recording.error->text()};
    return {recording.outputs.front(), {}};
}

Tensor firstTensor(const Value& value) {
    return value.isTensor() ? value.tensor() : firstTensor(value.items().front());
}

bool near(const Tensor& a, const Tensor& b) {
    if (a.shape() != b.shape()) return false;
    for (std::int64_t i = 0; i < a.numel(); ++i) {
        if (!(std::abs(a.toDouble(i) - b.toDouble(i)) <= 1e-4 * std::max(1.0, std::abs(b.toDouble(i))))) return false;
    }
    return true;
}

}  // namespace

class TestSavedTracedModules : public QObject {
    Q_OBJECT

  private slots:
    void archivesAreSaved_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("file");
        // Scripted: norms that ask for the rank, an LSTM that compares sizes, an attention that returns None, a group
        // norm that takes sizes apart.
        for (const char* name : {"unet_small", "lstm_classifier", "vit_small", "nested_containers", "robust_nested"})
            QTest::newRow(qPrintable(QString(name) + ".script")) << QString(name) << QString(name) + ".script.pt";
        for (const char* name : {"lstm_classifier", "vit_small", "gpt_mini"})
            QTest::newRow(qPrintable(QString(name) + ".trace")) << QString(name) << QString(name) + ".trace.pt";
    }
    void archivesAreSaved() {
        QFETCH(QString, name);
        QFETCH(QString, file);
        const std::string values = model(name.toStdString() + ".npz"), saved = path("saved.sondetm");
        const auto original = openedWith(model(file.toStdString()), values, "traced-module");
        QVERIFY(original->tracedModule);
        // Nobody lends kernels here: they are those of the trace.
        QVERIFY(!trace::EvaluatorScope::current());
        const auto done = io::saveTracedModule(*original->tracedModule, saved);
        QVERIFY2(done, done ? "" : done.error().text().c_str());
        const auto loaded = openedWith(saved, {});
        QCOMPARE(loaded->text, original->text);
        const auto [result, error] = resultOf(*loaded, inputsFor(*loaded, values));
        QVERIFY2(error.empty(), error.c_str());
        const auto npz = io::NpzFile::open(values);
        QVERIFY(npz);
        const auto key = std::ranges::find_if(npz->keys(), [](const auto& each) { return each.starts_with("out."); });
        QVERIFY(key != npz->keys().end());
        const auto expected = npz->read(*key);
        QVERIFY(near(firstTensor(result), *expected));
    }

    void loadedModulesTakeOtherSizes_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("inputs");
        QTest::newRow("LSTM, another batch") << "lstm_classifier"
                                             << "tokens:#rand(0,9,3,15)";
        QTest::newRow("LSTM, another length") << "lstm_classifier"
                                              << "tokens:#rand(0,9,2,6)";
        QTest::newRow("attention, another batch") << "vit_small"
                                                  << "x:#rand(-1,1,3,3,32,32)";
    }
    void loadedModulesTakeOtherSizes() {
        QFETCH(QString, name);
        QFETCH(QString, inputs);
        for (const char* kind : {".script.pt", ".trace.pt"}) {
            const std::string file = model(name.toStdString() + kind), saved = path("sizes.sondetm");
            const auto original = openedWith(file, model(name.toStdString() + ".npz"), "traced-module");
            QVERIFY(io::saveTracedModule(*original->tracedModule, saved));
            const auto loaded = openedWith(saved, {}), archive = openedWith(file, {});
            const std::vector<Value> given = inputsFor(*loaded, inputs.toStdString());
            const auto [result, error] = resultOf(*loaded, given);
            QVERIFY2(error.empty(), (kind + (' ' + error)).c_str());
            const auto [expected, refused] = resultOf(*archive, given);
            QVERIFY2(refused.empty(), refused.c_str());
            QVERIFY(near(firstTensor(result), firstTensor(expected)));
        }
    }

  private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestSavedTracedModules)
#include "tst_saved_traced_modules.moc"
