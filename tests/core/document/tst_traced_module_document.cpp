// `--tracer traced-module` on built-in models and archives: names, scopes, texts, and values of the engine.

#include <QtTest>

#include "core/document/document.h"
#include "core/exec/run.h"
#include "core/io/npz/npz.h"
#include "tests/support/reference_sets.h"

using namespace sonde;

namespace {

std::shared_ptr<const document::Document> opened(const std::string& model, document::OpenOptions options = {}) {
    options.tracer = "traced-module";
    auto document = document::open(model, options);
    if (!document) qWarning("%s", document.error().text().c_str());
    return document ? *document : nullptr;
}

}  // namespace

class TestTracedModuleDocument : public QObject {
    Q_OBJECT

  private slots:
    void namesOfABuiltInModel() {
        const auto document = opened("zoo:resnet18");
        QVERIFY(document);
        QVERIFY(document->graph->validate());
        QVERIFY(document->graph->findNode("conv1_out").valid());
        QVERIFY(document->graph->findNode("layer1__0_conv1_out").valid() || document->graph->findNode("layer1_0_conv1_out").valid());
        QVERIFY(document->text.find("ResNet_layer1.Graph (self, input) {") != std::string::npos);
        document::OpenOptions flat;
        flat.flatten = true;
        const auto flattened = opened("zoo:resnet18", flat);
        QVERIFY(flattened);
        QCOMPARE(flattened->graph->scopeCount(), 1U);
        QCOMPARE(flattened->graph->exprCount() > 60U, true);
    }

    void withoutAnExampleAnArchiveIsAUsageError() {
        const std::filesystem::path models = test::referenceModels().toStdString();
        if (!std::filesystem::exists(models)) QSKIP("the shared models are not here");
        document::OpenOptions options;
        options.tracer = "traced-module";
        const auto document = document::open((models / "mlp_functional.trace.pt").string(), options);
        QVERIFY(!document);
        QCOMPARE(document.error().kind, base::ErrorKind::Usage);
        QVERIFY(document.error().hint.find("--example") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestTracedModuleDocument)
#include "tst_traced_module_document.moc"
