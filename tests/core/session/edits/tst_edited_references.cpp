// Weights and values of the reference models edited in every way: what the debugger shows, which computes again only
// what depends on them, is what the edited model gives in a full run from its file, at every node and bit for bit.

#include <QDir>
#include <QTemporaryDir>
#include <QtTest>

#include "core/io/npz/npy.h"
#include "tests/core/session/edits/edited_file.h"
#include "tests/support/reference_sets.h"

namespace tst_edited_references {

using namespace sonde;
using namespace sonde::test::edits;
using graph::NodeId;
using tensor::Tensor;

namespace {

/// The floating-point weights with two dimensions or more, and the values computed that have at least that.
struct Editable {
    std::vector<std::string> weights, values;
};
Editable editableOf(const graph::InternalGraph& graph) {
    Editable found;
    const auto written = [&](NodeId node) { return '`' + graph.node(node).name + '`'; };
    for (const graph::ExprId id : graph.main().order) {
        const graph::Expr& expr = graph.expr(id);
        for (const NodeId node : expr.outputs) {
            const auto& type = graph.node(node).type;
            if (type.dtype != tensor::DType::Float32) continue;
            const auto& constant = graph.node(node).constant;
            const bool isLarge = constant && constant->isTensor() && constant->tensor().rank() >= 2 &&
                                 constant->tensor().dim(0) > 2 && constant->tensor().numel() > 16;
            if (isLarge) found.weights.push_back(written(node));
            else if (!constant && expr.kind == graph::ExprKind::Apply) found.values.push_back(written(node));
        }
    }
    return found;
}

}  // namespace

class TestEditedReferences : public QObject {
    Q_OBJECT

  private slots:
    void whatIfIsAFullRun_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("edit");
        for (const char* model : {"mlp_functional", "resnet18_slim", "vit_small"})
            for (const char* edit : {"zero", "scale -0.5", "noise 0.1 7", "swap 0 0 1", "remove 0 2", "load",
                                     "[1] zero", "value scale 0.5", "value zero", "several"})
                QTest::newRow(qPrintable(QString("%1, %2").arg(model, edit))) << model << edit;
    }
    void whatIfIsAFullRun() {
        QFETCH(QString, model);
        QFETCH(QString, edit);
        const QString folder = test::referenceModels();
        SONDE_NEEDS_SET("models", folder + "/" + model + ".onnx");
        const std::string path = (folder + "/" + model).toStdString();
        session::Session session;
        QVERIFY(session.open(path + ".onnx").has_value());
        const auto cases = session.readCases({path + ".npz", "bgr", 0});
        QVERIFY(cases.has_value());
        session.runs().giveValues(cases->front().values);
        session.debugger().restart();
        const Editable nodes = editableOf(*session.document()->graph);
        QVERIFY(!nodes.weights.empty() && nodes.values.size() > 2);
        const std::string weight = nodes.weights[nodes.weights.size() / 2],
                          value = nodes.values[nodes.values.size() / 2];
        const QTemporaryDir files;
        const std::string array = files.filePath("factor.npy").toStdString();
        QVERIFY(io::writeNpyFile(array, Tensor::of<float>({1}, {0.25F})));
        std::vector<std::string> lines;
        if (edit == "load") lines = {weight + " load " + array};
        else if (edit.startsWith("[")) lines = {weight + edit.toStdString()};
        else if (edit.startsWith("value")) lines = {value + edit.mid(5).toStdString()};
        else if (edit == "several")
            lines = {weight + " scale 2", nodes.weights.back() + " swap 0 1 2", value + " scale 0.75",
                     weight + "[0] zero"};
        else lines = {weight + " " + edit.toStdString()};
        for (const std::string& line : lines) {
            const auto error = make(session, line);
            QVERIFY2(!error, error ? (line + ": " + *error).c_str() : "");
        }
        const NodeId output = session.document()->outputs.front().node;
        const auto plain = session.debugger().baselineValue(output), due = session.debugger().value(output);
        QVERIFY(plain.has_value() && due.has_value());
        QVERIFY2(!tensor::identical(*plain, *due), "the edit changes nothing");
        const std::string wrong = compareWritten(session, files, cases->front().values);
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
};

QTEST_GUILESS_MAIN(TestEditedReferences)

}  // namespace tst_edited_references

#include "tst_edited_references.moc"
