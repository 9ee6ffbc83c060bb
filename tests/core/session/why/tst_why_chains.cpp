// Fifty generated networks with one fault each: where the fault makes NaN or infinity, the chain of terms from any bad
// element of the output ends at it; the other chains end at the image. So do those of the networks without a fault.

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

#include "core/session/repeated_run.h"
#include "core/session/why/chain.h"
#include "core/session/why/run_reader.h"
#include "tests/support/planted_networks.h"

namespace tst_why_chains {

using namespace sonde;
using namespace sonde::test;
using session::why::Chain;

namespace {

/// The chain of the output's first element that is bad, or of its largest one; and what is bad at the faulty node.
struct Followed {
    Chain chain;
    bool isBad = false;
};

std::optional<Followed> follow(const QString& path, const tensor::Tensor& image) {
    session::Session session;
    if (!session.open(path.toStdString())) return std::nullopt;
    session.runs().giveValues({tensor::Value(image)});
    session.runs().run();
    const auto again = session::RepeatedRun::of(session);
    if (!again) return std::nullopt;
    const base::WorkContext work;
    const graph::InternalGraph& graph = *session.document()->graph;
    const graph::NodeId output = graph.findNode("y");
    if (!(*again)->reach(output, work)) return std::nullopt;
    const session::debug::View view = (*again)->view(output);
    session::why::RunReader reader(view, work);
    const auto value = reader.value(output);
    if (!value) return std::nullopt;
    Followed followed;
    std::int64_t element = 0;
    for (std::int64_t i = 0; i < value->tensor().numel() && !followed.isBad; ++i) {
        const double here = value->tensor().toDouble(i);
        if (!std::isfinite(here)) followed.isBad = true;
        if (followed.isBad || here > value->tensor().toDouble(element)) element = i;
    }
    auto chain = session::why::chain(graph, {output, {}, {0, element}}, reader, {}, work);
    if (!chain) return std::nullopt;
    followed.chain = std::move(*chain);
    // The graph goes with the session.
    for (auto& hop : followed.chain.hops) hop.note = graph.node(hop.place.node).name;
    return followed;
}

std::string names(const Chain& chain) {
    std::string text;
    for (const auto& hop : chain.hops) text += hop.note + " ";
    return text + "(" + chain.end + ")";
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
        QVERIFY(good && !good->isBad && !good->chain.isOrigin);
        QVERIFY2(good->chain.hops.back().note == "x", names(good->chain).c_str());
        QCOMPARE(good->chain.end, std::string("an input of the model"));
        const auto bad = follow(wrong, network.given());
        QVERIFY(bad);
        if (!bad->isBad) {
            QVERIFY(network.needsReference());
            QVERIFY2(bad->chain.hops.back().note == "x", names(bad->chain).c_str());
            return;
        }
        const auto passed = std::ranges::find(bad->chain.hops, network.faultyNode(), &session::why::Explanation::note);
        QVERIFY2(passed != bad->chain.hops.end(), names(bad->chain).c_str());
        // Statistics of a norm that are NaN themselves are where it comes from.
        const bool isWeight = bad->chain.hops.back().note.find(".variance") != std::string::npos;
        QVERIFY2(isWeight || (bad->chain.isOrigin && bad->chain.hops.back().note == network.faultyNode()),
                 names(bad->chain).c_str());
    }
};

QTEST_GUILESS_MAIN(TestWhyChains)

}  // namespace tst_why_chains

#include "tst_why_chains.moc"
