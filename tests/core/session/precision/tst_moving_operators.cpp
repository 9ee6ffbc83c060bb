// Operators that only move elements round nothing: a lower precision has no part in them. Which move is listed here by
// name, and must hold for every operator that declares it.

#include <QtTest>

#include "core/operators/moved_elements.h"
#include "core/operators/traits.h"
#include "core/ops/dependence/moves.h"
#include "core/ops/registry/registry.h"
#include "core/session/precision/simulation.h"
#include "tests/core/session/gradient/small_net.h"

namespace tst_moving_operators {

using namespace sonde;
using namespace sonde::test::gradients;
using graph::Argument;
using graph::NodeId;

namespace {

/// Whether an operation that gives a floating-point tensor is among those that round.
bool isChosen(const graph::OpKey& op, const tensor::Attributes& attributes = {}) {
    SmallNet net;
    const tensor::Tensor x = tensor::Tensor::of<float>({2}, {1, 2});
    const NodeId input = net.input("x", x);
    const NodeId y = net.call(op, {Argument::of(input), Argument::of(input)}, attributes).front();
    net.graph.setType(y, tensor::TypeInfo::of(tensor::Value(x)));
    return !session::precision::chosenBy(net.graph, {}).value().empty();
}

}  // namespace

class TestMovingOperators : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void namedOnes_data() {
        QTest::addColumn<QString>("domain");
        QTest::addColumn<QString>("names");
        QTest::addColumn<bool>("rounds");
        QTest::newRow("ONNX, moving") << ""
                                      << "Expand Pad Tile Reshape Transpose Concat Split Slice Gather GatherND "
                                         "GatherElements ScatterND ScatterElements DepthToSpace SpaceToDepth "
                                         "ReverseSequence Trilu Compress Where Identity Squeeze Unsqueeze Flatten"
                                      << false;
        QTest::newRow("ATen, moving") << "aten"
                                      << "expand constant_pad_nd repeat roll flip index_select tril triu embedding "
                                         "narrow permute cat stack unbind chunk gather masked_select pixel_shuffle "
                                         "clone contiguous"
                                      << false;
        QTest::newRow("ONNX, computing") << ""
                                         << "MatMul Gemm Conv Add Mul Relu Softmax ReduceSum LayerNormalization Exp "
                                            "AveragePool Resize CumSum"
                                         << true;
        QTest::newRow("ATen, computing") << "aten"
                                         << "matmul linear conv2d add mul relu softmax sum layer_norm scatter_add "
                                            "index_add cumsum"
                                         << true;
    }
    void namedOnes() {
        QFETCH(QString, domain);
        QFETCH(QString, names);
        QFETCH(bool, rounds);
        const int version = domain.isEmpty() ? 18 : 0;
        for (const QString& name : names.split(u' '))
            QVERIFY2(isChosen({domain.toStdString(), name.toStdString(), version}) == rounds, qPrintable(name));
    }
    /// With a reduction elements are computed.
    void scattersThatAddUp() {
        for (const char* name : {"ScatterElements", "ScatterND"}) {
            QVERIFY(!isChosen({"", name, 18}, {{"reduction", std::string("none")}}));
            QVERIFY(isChosen({"", name, 18}, {{"reduction", std::string("add")}}));
        }
    }
    void whateverDeclaresIt() {
        std::size_t declared = 0;
        for (const ops::OpDef* op : ops::Registry::all().rows()) {
            const operators::Traits& traits = operators::traitsOf(op->domain, op->name);
            const bool moves = traits.is(operators::Trait::MovesData) || ops::onlyMoves(*op) ||
                               operators::onlyMovesElements(op->domain, op->name);
            if (!moves) continue;
            ++declared;
            const std::string domain(op->domain), own(op->name), name = domain + "::" + own;
            QVERIFY2(!isChosen({domain, own, domain.empty() ? op->since : 0}), name.c_str());
        }
        QVERIFY(declared > 100);
    }
};

QTEST_GUILESS_MAIN(TestMovingOperators)

}  // namespace tst_moving_operators

#include "tst_moving_operators.moc"
