// Fifty generated networks with one fault each: where the fault makes NaN or infinity, the chain of terms from any bad
// element of the output ends at it; the other chains end at the image. So do those of the networks without a fault.

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>

#include "tests/support/followed_chain.h"
#include "tests/support/planted_networks.h"

namespace tst_why_chains {

using namespace sonde;
using namespace sonde::test;

namespace {

/// The first element that is bad; without one the largest.
std::int64_t badOrLargest(const tensor::Tensor& output) {
    std::int64_t element = 0;
    for (std::int64_t i = 0; i < output.numel(); ++i) {
        if (!std::isfinite(output.toDouble(i))) return i;
        if (output.toDouble(i) > output.toDouble(element)) element = i;
    }
    return element;
}

std::optional<FollowedChain> follow(const QString& path, const tensor::Tensor& image) {
    return followedChain(path.toStdString(), image, badOrLargest,
                         [](const auto& view, const auto& place, auto& reader) {
                             return session::why::chain(*view.document().graph, place, reader);
                         });
}
bool isBad(const FollowedChain& followed) {
    return !std::isfinite(followed.output.toDouble(badOrLargest(followed.output)));
}

}  // namespace

class TestWhyChains : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void theyEndAtTheFault_data() {
        QTest::addColumn<int>("index");
        for (int i = 0; i < kPlantedCount; ++i) QTest::addRow("%d, %s", i, nameOf(PlantedNetwork(i).fault())) << i;
    }
    void theyEndAtTheFault() {
        QFETCH(int, index);
        PlantedNetwork network(index);
        QTemporaryDir files;
        const QString right = files.filePath("right.onnx"), wrong = files.filePath("wrong.onnx");
        QVERIFY(onnxfile::write(right, network.model(false)));
        QVERIFY(onnxfile::write(wrong, network.model(true)));
        const auto good = follow(right, network.image());
        QVERIFY(good && !isBad(*good) && !good->chain.isOrigin);
        QVERIFY2(good->nodes.back() == "x", good->text().c_str());
        QCOMPARE(good->chain.end, std::string("an input of the model"));
        const auto bad = follow(wrong, network.given());
        QVERIFY(bad);
        if (!isBad(*bad)) {
            QVERIFY(network.needsReference());
            QVERIFY2(bad->nodes.back() == "x", bad->text().c_str());
            return;
        }
        QVERIFY2(std::ranges::find(bad->nodes, network.faultyNode()) != bad->nodes.end(), bad->text().c_str());
        // Statistics of a norm that are NaN themselves are where it comes from.
        const bool isWeight = bad->nodes.back().find(".variance") != std::string::npos;
        QVERIFY2(isWeight || (bad->chain.isOrigin && bad->nodes.back() == network.faultyNode()), bad->text().c_str());
    }

    /// A recurrent layer on top of another one in one operator: the zeros of its initial state explain nothing.
    void zerosAreNotFollowedPastWhatCounts() {
        graph::InternalGraph graph;
        const graph::NodeId zeros = graph.addInput(graph.mainId(), "zeros", {}, "zeros", 0);
        session::why::Explanation explanation;
        explanation.value = -0.1;
        explanation.terms = {{.place = {}, .weight = 0.4, .value = -0.3}, {.place = {zeros, {0}}, .weight = 0.2}};
        std::string end;
        bool isOrigin = false;
        QVERIFY(!session::why::nextInChain(graph, explanation, end, isOrigin).node.valid());
        QCOMPARE(end, std::string("what counts are numbers of the operator or values within it"));
        // But what counts itself is, and zeros where nothing counts.
        explanation.terms[1].value = 0.1;
        QCOMPARE(session::why::nextInChain(graph, explanation, end, isOrigin).node, zeros);
        explanation.terms[0].value = explanation.terms[1].value = 0;
        QCOMPARE(session::why::nextInChain(graph, explanation, end, isOrigin).node, zeros);
    }
};

QTEST_GUILESS_MAIN(TestWhyChains)

}  // namespace tst_why_chains

#include "tst_why_chains.moc"
