// An ONNX export that names nothing as the archive does it came from: what is the same is found by structure and by
// weights, also where the export writes a layer in other operators, and nothing is said to differ that does not.

#include <QFile>
#include <QtTest>

#include <cmath>
#include <cstring>

#include "core/session/diff/model_diff.h"
#include "core/session/read_inputs.h"
#include "tests/support/renamed_onnx.h"
#include "tests/support/written_models.h"

namespace tst_renamed_exports {

using namespace sonde;
using test::kSmallModels;
using test::openedModel;

class TestRenamedExports : public QObject {
    Q_OBJECT

  private slots:
    void areTheArchivesTheyCameFrom_data();
    void areTheArchivesTheyCameFrom();
    void anotherFunctionIsFound_data();
    void anotherFunctionIsFound();
    void anotherWeightIsFound();

  private:
    test::WrittenModels m_models;
};

void TestRenamedExports::areTheArchivesTheyCameFrom_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("form");
    QTest::addColumn<double>("atLeast");
    // The scripts of the last two have branches that no export has: a faster attention, and inputs without a batch.
    for (const char* name :
         {"gpt_mini", "unet_small", "shared_twice", "mlp_functional", "vit_small", "lstm_classifier"})
        for (const char* form : {"trace", "script"}) {
            if (!QFile::exists(QString::fromStdString(kSmallModels + name + '.' + form + ".pt"))) continue;
            const bool isOther = std::string_view(name) == "vit_small" && std::string_view(form) == "script";
            QTest::addRow("%s, %s", name, form) << name << form << (isOther ? 0.93 : 1.0);
        }
}

void TestRenamedExports::areTheArchivesTheyCameFrom() {
    QFETCH(const QString, name);
    QFETCH(const QString, form);
    QFETCH(const double, atLeast);
    const auto exported =
        m_models.open(test::RenamedOnnx::of(test::bytesOfFile(kSmallModels + name.toStdString() + ".onnx")));
    const auto archive = openedModel(kSmallModels + name.toStdString() + '.' + form.toStdString() + ".pt");
    session::ModelDiffRequest request;
    const auto values = session::readCases(*exported, {.spec = kSmallModels + name.toStdString() + ".npz"});
    QVERIFY2(values, values ? "" : values.error().text().c_str());
    request.inputs = values->front().values;
    const auto diff = session::modelDiff(*exported, *archive, request);
    QVERIFY(diff);
    const std::string text = session::modelDiffText(*exported, *archive, *diff);
    QVERIFY2(diff->structure.matched() >= atLeast, text.c_str());
    QVERIFY2(diff->structure.changed.empty() && diff->structure.moved.empty(), text.c_str());
    QVERIFY2(diff->parameters.isEqual(), text.c_str());
    QVERIFY2(diff->values && diff->values->compared > 2 && diff->values->changed.empty(), text.c_str());
    if (atLeast == 1) QVERIFY2(diff->isEqual(), text.c_str());
    // Batch norms were folded by other roundings; what counts batches while training is no part of the network.
    if (name == QLatin1String("unet_small")) {
        QVERIFY2(diff->parameters.rounded > 0, text.c_str());
        QVERIFY2(text.find("a buffer that nothing reads: enc1.bn1.num_batches_tracked and ") != std::string::npos,
                 text.c_str());
    }
    // The other way round.
    const auto turned = session::modelDiff(*archive, *exported);
    QVERIFY(turned && turned->structure.matched() >= atLeast && turned->parameters.isEqual());
}

void TestRenamedExports::anotherFunctionIsFound_data() {
    QTest::addColumn<QByteArray>("operation");
    QTest::addColumn<QByteArray>("other");
    // Of the same length, so that no length in the file changes.
    QTest::newRow("inside GELU") << QByteArray(
                                        "\"\x03"
                                        "Erf")
                                 << QByteArray(
                                        "\"\x03"
                                        "Cos");
    QTest::newRow("inside a layer norm") << QByteArray(
                                                "\"\x04"
                                                "Sqrt")
                                         << QByteArray(
                                                "\"\x04"
                                                "Tanh");
}

/// A decomposed layer in which one operator is another one is not the layer.
void TestRenamedExports::anotherFunctionIsFound() {
    QFETCH(const QByteArray, operation);
    QFETCH(const QByteArray, other);
    QByteArray bytes =
        QByteArray::fromStdString(test::RenamedOnnx::of(test::bytesOfFile(kSmallModels + "gpt_mini.onnx")));
    const qsizetype at = bytes.indexOf(operation);
    QVERIFY(at > 0);
    bytes.replace(at, operation.size(), other);
    const auto exported = m_models.open(bytes.toStdString()), archive = openedModel(kSmallModels + "gpt_mini.trace.pt");
    const auto diff = session::modelDiff(*exported, *archive);
    QVERIFY(diff);
    QVERIFY2(!diff->structure.isEqual(), session::modelDiffText(*exported, *archive, *diff).c_str());
    QVERIFY(diff->structure.matched() > 0.85);
}

/// One element of one of the square matrices that MatMul reads transposed: that weight differs, and no other.
void TestRenamedExports::anotherWeightIsFound() {
    const std::string original = test::bytesOfFile(kSmallModels + "gpt_mini.onnx");
    const auto plain = openedModel(kSmallModels + "gpt_mini.onnx");
    const tensor::Tensor* square = nullptr;
    for (std::size_t i = 0; i < plain->graph->nodeCount(); ++i)
        if (const auto& constant = plain->graph->node(graph::NodeId(i)).constant;
            constant && constant->isTensor() && constant->tensor().rank() == 2 &&
            constant->tensor().dim(0) == constant->tensor().dim(1))
            square = &constant->tensor();
    QVERIFY(square);
    const std::string data(reinterpret_cast<const char*>(square->bytes()), square->sizeBytes());
    std::string bytes = test::RenamedOnnx::of(original);
    const std::size_t at = bytes.find(data);
    QVERIFY(at != std::string::npos);
    float element = 0;
    std::memcpy(&element, data.data() + 4, 4);
    const float changed = element + 1;
    std::memcpy(bytes.data() + at + 4, &changed, 4);
    const auto exported = m_models.open(bytes), archive = openedModel(kSmallModels + "gpt_mini.trace.pt");
    const auto diff = session::modelDiff(*exported, *archive);
    QVERIFY(diff);
    const std::string text = session::modelDiffText(*exported, *archive, *diff);
    QVERIFY2(diff->structure.isEqual(), text.c_str());
    QVERIFY2(diff->parameters.changed.size() == 1 && diff->parameters.removed.empty() && diff->parameters.added.empty(),
             text.c_str());
    QVERIFY(std::abs(diff->parameters.changed.front().maxAbs.value() - 1) < 1e-6);
}

QTEST_APPLESS_MAIN(TestRenamedExports)

}  // namespace tst_renamed_exports

#include "tst_renamed_exports.moc"
