// Costs of whole models against published totals.

#include <QtTest>

#include "core/analysis/infer.h"
#include "core/analysis/operator_cost.h"
#include "core/document/document.h"
#include "tests/support/written_models.h"

namespace tst_operator_cost {

using namespace sonde;
using tensor::Symbolic;

class TestOperatorCost : public QObject {
    Q_OBJECT

  private slots:
    void publishedTotals_data();
    void publishedTotals();
    void localResponseNorm();
};

/// Multiply-adds for one image of 3×224×224, in 10⁹. torchvision 0.15, "GFLOPS" of the weights' documentation (`_ops`
/// in torchvision/models/*.py). He et al. 2016, table 1, say 1.8 and 3.8; Sandler et al. 2018, table 4, say 300
/// million.
void TestOperatorCost::publishedTotals_data() {
    QTest::addColumn<double>("billions");
    QTest::newRow("resnet18") << 1.814;
    QTest::newRow("resnet50") << 4.089;
    QTest::newRow("mobilenet_v2") << 0.301;
}

void TestOperatorCost::publishedTotals() {
    QFETCH(double, billions);
    const auto opened = document::open(std::string("zoo:") + QTest::currentDataTag(), {});
    QVERIFY(opened);
    const graph::InternalGraph graph = analysis::typedFor(*(*opened)->graph, {});
    Symbolic products = Symbolic::of(std::int64_t{0}), flops = products;
    QStringList open;
    for (const graph::ExprId id : graph.main().order) {
        const operators::Cost cost = analysis::costOf(graph, graph.expr(id));
        if (!cost.flops.known())
            open << QString::fromStdString(graph.expr(id).op.domain + "::" + graph.expr(id).op.name);
        products = products + cost.multiplyAdds;
        flops = flops + cost.flops;
    }
    QVERIFY2(open.isEmpty(), qPrintable(open.join(u' ')));
    QVERIFY2(products.constant(), products.text().c_str());
    const double error = static_cast<double>(*products.constant()) / (billions * 1e9) - 1;
    QVERIFY2(std::abs(error) < 0.01, products.text().c_str());
    // Beside the products there are normalisations, activations and sums.
    QVERIFY(*flops.constant() > 2 * *products.constant());
    QVERIFY2(*flops.constant() < 2.2 * static_cast<double>(*products.constant()), flops.text().c_str());
}

/// Of each of 16 elements the square, 3 squares of neighbours, scale, shift, power and quotient.
void TestOperatorCost::localResponseNorm() {
    using namespace test::onnxfile;
    constexpr int kFloat = 1;
    test::WrittenModels models;
    const auto document = models.open(model({.nodes = {{"LRN", {"x"}, {"y"}, "", "", {intAttribute("size", 3)}}},
                                             .inputs = {valueInfo("x", kFloat, {1, 4, 2, 2})},
                                             .outputs = {valueInfo("y", kFloat, {1, 4, 2, 2})}}));
    const graph::InternalGraph& graph = *document->graph;
    const graph::ExprId id = graph.node(graph.outputs().front()).producer;
    const auto flops = analysis::costOf(graph, graph.expr(id)).flops.constant();
    QVERIFY(flops);
    QCOMPARE(*flops, std::int64_t{16 * 8});
}

QTEST_APPLESS_MAIN(TestOperatorCost)

}  // namespace tst_operator_cost

#include "tst_operator_cost.moc"
