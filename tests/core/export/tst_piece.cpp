// Pieces cut out of models whose beginnings are no tensors. Expected values: the recorded run of the whole model, whose
// own reference is that of PyTorch (control_flow.npz).

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/export/piece.h"
#include "core/export/write_piece.h"
#include "core/io/npz/npz.h"

namespace tst_piece {

using namespace sonde;
using exporting::PieceEnds;
using graph::NodeId;

class TestPiece : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() {
        const auto opened = document::open(SONDE_TEST_DATA "/models/control_flow.script.pt");
        QVERIFY(opened);
        m_document = *opened;
        const auto given = io::NpzFile::open(SONDE_TEST_DATA "/models/control_flow.npz");
        QVERIFY(given);
        const auto x = given->read("in.x");
        QVERIFY(x);
        m_inputs = {tensor::Value(*x)};
    }

    /// if_1 decides on bool_1, which is no tensor: it is computed from gt.
    void aBeginningThatIsNoTensorIsPassed() {
        const std::vector<NodeId> to{node("if_1")};
        const auto refused = exporting::cutPiece(*m_document, {{node("bool_1")}, to}, m_inputs);
        QVERIFY(!refused);
        QCOMPARE(QString::fromStdString(refused.error().hint), QStringLiteral("begin at what it is computed from"));
        const auto piece = exporting::cutPiece(*m_document, {{node("bool_1")}, to, true}, m_inputs);
        QVERIFY2(piece, piece ? "" : piece.error().text().c_str());
        QCOMPARE(piece->earlier, std::vector<std::string>{"bool_1"});
        std::vector<std::string> begins;
        for (const document::NamedNode& input : piece->document->inputs) begins.push_back(input.name);
        QVERIFY(std::ranges::find(begins, "gt") != begins.end());
        QVERIFY(std::ranges::find(begins, "bool_1") == begins.end());
        for (const tensor::Value& value : piece->inputs) QVERIFY(value.isTensor());
        exec::Runner runner(1);
        exec::PlanOptions options;
        options.end = to;
        const exec::Recording whole = runner.run(*exec::Plan::make(m_document->graph, options).value(), m_inputs);
        QVERIFY(!whole.error);
        QVERIFY(tensor::identical(piece->outputs.front(), whole.outputs.front()));
        QTemporaryDir folder;
        // Which runs it alone, in operators of ONNX.
        const auto written = exporting::writePiece(*piece, folder.filePath(QStringLiteral("p.onnx")).toStdString());
        QVERIFY2(written, written ? "" : written.error().text().c_str());
        QCOMPARE(written->maxAbsolute, 0.0);
    }

  private:
    NodeId node(const char* name) { return *m_document->findNode(name); }

    std::shared_ptr<const document::Document> m_document;
    std::vector<tensor::Value> m_inputs;
};

QTEST_GUILESS_MAIN(TestPiece)

}  // namespace tst_piece

#include "tst_piece.moc"
