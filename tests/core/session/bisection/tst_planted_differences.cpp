// Generated networks of several shapes and element types with one planted change each: a bisection with the changed
// model, and with reference values of the right one, ends at the planted operation in few runs, and the part that it
// writes stands by itself. Where that is is known from the planting.

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

#include "core/document/document.h"
#include "core/document/reference.h"
#include "core/io/npz/npz.h"
#include "core/session/bisection/bisection.h"
#include "core/session/session.h"
#include "tests/support/planted_differences.h"

namespace tst_planted_differences {

using namespace sonde;
using namespace sonde::test;
using namespace sonde::session;
using document::Document;

namespace {

using DocumentPtr = std::shared_ptr<const Document>;

std::size_t runsAllowed(int operations) {
    return 2 + static_cast<std::size_t>(std::ceil(std::log2(static_cast<double>(operations))));
}

QString nameIn(const bisection::Outcome& outcome, graph::NodeId node) {
    return QString::fromStdString(outcome.document->graph->node(node).name);
}

}  // namespace

class TestPlantedDifferences : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void anotherModel_data() { addNetworks(); }
    void anotherModel();
    void referenceValues_data() { addNetworks(); }
    void referenceValues();
    void someReferenceValues();
    void oneOfSeveralCases();
    void lowerPrecisionAtOneOperation();
    void valuesAreToldApart();
    void progressAndCancel();
    void refusals();

  private:
    static void addNetworks() {
        QTest::addColumn<int>("index");
        for (int i = 0; i < PlantedDifference::kCount; ++i)
            QTest::addRow("%s", PlantedDifference(i).title().c_str()) << i;
    }
    std::string path(const char* name) const { return m_files.filePath(QLatin1String(name)).toStdString(); }
    DocumentPtr open(const char* name, const std::string& bytes) {
        if (!onnxfile::write(QString::fromStdString(path(name)), bytes)) return nullptr;
        const auto opened = document::open(path(name));
        return opened ? *opened : nullptr;
    }
    /// What a network computes, as an .npz for the same network with a fault.
    std::vector<io::NamedTensor> valuesOf(const char* name, const tensor::Tensor& input) {
        Session session;
        if (!session.open(path(name))) return {};
        RunSettings settings;
        settings.watchAll = true;
        session.runs().setSettings(settings);
        session.runs().giveValues({tensor::Value(input)});
        session.runs().run();
        const auto& recording = session.runs().last().recording;
        std::vector<io::NamedTensor> arrays{{"in.x", input}};
        const graph::InternalGraph& graph = *session.document()->graph;
        for (const graph::ExprId id : graph.main().order)
            for (const graph::NodeId node : graph.expr(id).outputs)
                if (const auto* value = recording->value(node);
                    value && value->isTensor() && graph.node(node).name != "x" && !graph.node(node).constant)
                    arrays.emplace_back("node." + graph.node(node).name, value->tensor());
        arrays.emplace_back("out." + session.document()->outputs.front().name, recording->outputs.front().tensor());
        return arrays;
    }
    /// The part that was written runs alone and has the values that are beside it.
    void checkPiece(const bisection::Outcome& found, const std::string& node) {
        const auto written = bisection::writePiece(found, path("piece.onnx"));
        QVERIFY2(written, written ? "" : written.error().what.c_str());
        const auto piece = document::open(path("piece.onnx"));
        QVERIFY(piece);
        exec::Runner runner{1};
        const auto compared = document::compareWithReference(**piece, path("piece.npz"), {}, runner);
        QVERIFY2(compared, compared ? "" : compared.error().what.c_str());
        QCOMPARE(compared->cases.size(), std::size_t{1});
        QVERIFY(compared->cases.front().ok());
        QVERIFY(!compared->cases.front().values.empty());
        QVERIFY(compared->cases.front().unmatched.empty());
        const auto values = io::NpzFile::open(path("piece.npz"));
        QVERIFY(values && values->has("out." + node));
    }

    QTemporaryDir m_files;
};

void TestPlantedDifferences::anotherModel() {
    QFETCH(int, index);
    PlantedDifference network(index);
    const auto right = open("right.onnx", network.model(false)), wrong = open("wrong.onnx", network.model(true));
    QVERIFY(right && wrong);
    const auto found = bisection::bisect({right, {tensor::Value(network.input())}}, bisection::OtherModel{wrong});
    QVERIFY2(found, found ? "" : found.error().what.c_str());
    QVERIFY(found->found.differs);
    QCOMPARE(nameIn(*found, found->found.node), QString::fromStdString(network.faultyNode()));
    QCOMPARE(found->found.operations.size(), std::size_t{1});
    QCOMPARE(found->found.all.size(), std::size_t{1});
    QCOMPARE(QString::fromStdString(found->otherNode), QString::fromStdString(network.faultyNode()));
    QVERIFY(found->found.runs <= runsAllowed(network.operations()));
    QCOMPARE(found->found.steps.size(), found->found.runs);
    const auto farthest = bisection::farthestElement(*found);
    QVERIFY(farthest);
    QCOMPARE(std::abs(farthest->own - farthest->other), found->found.difference.maxAbsolute);
    checkPiece(*found, network.faultyNode());
}

/// The wrong network against values of the right one.
void TestPlantedDifferences::referenceValues() {
    QFETCH(int, index);
    PlantedDifference network(index);
    QVERIFY(open("right.onnx", network.model(false)));
    const auto wrong = open("wrong.onnx", network.model(true));
    QVERIFY(wrong);
    QVERIFY(io::writeNpz(path("values.npz"), valuesOf("right.onnx", network.input())));
    const auto found = bisection::bisect({wrong, {}}, bisection::ReferenceFile{path("values.npz")});
    QVERIFY2(found, found ? "" : found.error().what.c_str());
    QVERIFY(found->found.differs);
    QCOMPARE(nameIn(*found, found->found.node), QString::fromStdString(network.faultyNode()));
    QCOMPARE(found->found.operations.size(), std::size_t{1});
    QVERIFY(found->found.runs <= runsAllowed(network.operations()));
    checkPiece(*found, network.faultyNode());
}

/// Of a chain n0 … the file has n2, n5 and the output: the part is what is between the two that enclose the fault.
void TestPlantedDifferences::someReferenceValues() {
    int index = 0, before = -1, after = 0;
    for (; before < 0 || after + 1 >= PlantedDifference(index).operations(); ++index) {
        PlantedDifference network(index);
        QVERIFY(index < PlantedDifference::kCount);
        network.model(true);
        if (network.shape() != NetworkShape::Chain) continue;
        const int fault = QString::fromStdString(network.faultyNode()).mid(1).toInt();
        before = fault - 2;
        after = fault + 3;
        if (before >= 0 && after + 1 < network.operations()) break;
        before = -1;
    }
    PlantedDifference network(index);
    QVERIFY(open("right.onnx", network.model(false)));
    const auto wrong = open("wrong.onnx", network.model(true));
    QVERIFY(wrong);
    std::vector<io::NamedTensor> values = valuesOf("right.onnx", network.input());
    std::erase_if(values, [&](const auto& one) {
        return one.first.starts_with("node.") && one.first != "node.n" + std::to_string(before) &&
               one.first != "node.n" + std::to_string(after);
    });
    QCOMPARE(values.size(), std::size_t{4});
    QVERIFY(io::writeNpz(path("values.npz"), values));
    const auto found = bisection::bisect({wrong, {}}, bisection::ReferenceFile{path("values.npz")});
    QVERIFY(found && found->found.differs);
    QCOMPARE(nameIn(*found, found->found.node), QStringLiteral("n%1").arg(after));
    QCOMPARE(found->found.from.size(), std::size_t{1});
    QCOMPARE(nameIn(*found, found->found.from.front()), QStringLiteral("n%1").arg(before));
    QCOMPARE(found->found.operations.size(), std::size_t{5});
}

/// The first case is right: the second is looked at, and named.
void TestPlantedDifferences::oneOfSeveralCases() {
    PlantedDifference network(1);
    const auto right = open("right.onnx", network.model(false));
    QVERIFY(right);
    std::vector<io::NamedTensor> values = valuesOf("right.onnx", network.input());
    std::vector<io::NamedTensor> both = values;
    for (auto [key, tensor] : values) {
        if (key == "node.n3")
            tensor = tensor::Tensor::of<float>({3, 3}, std::vector<float>(9, 77)).cast(tensor.dtype()).value();
        if (key != "in.x" && key != "node.n3" && !key.starts_with("out.")) continue;
        both.emplace_back("case1." + key, tensor);
    }
    QVERIFY(io::writeNpz(path("both.npz"), both));
    const auto found = bisection::bisect({right, {}}, bisection::ReferenceFile{path("both.npz")});
    QVERIFY2(found, found ? "" : found.error().what.c_str());
    // Only n3 differs, and no output does when the model goes its own way.
    QVERIFY(!found->found.differs);
    QCOMPARE(found->found.inBetween, std::size_t{1});
    QCOMPARE(found->other, std::string("both.npz#case1"));
    const auto first = bisection::bisect({right, {}}, bisection::ReferenceFile{path("both.npz") + "#case0"});
    QVERIFY(first && !first->found.differs);
    QCOMPARE(first->found.inBetween, std::size_t{0});
    const auto none = bisection::bisect({right, {}}, bisection::ReferenceFile{path("both.npz") + "#case7"});
    QVERIFY(!none);
    QCOMPARE(none.error().what, std::string("the file has no case7"));
}

/// Rounded at one operation alone: that one is it.
void TestPlantedDifferences::lowerPrecisionAtOneOperation() {
    PlantedDifference network(0);
    QCOMPARE(network.change(), PlantedChange::Weight);
    const auto right = open("right.onnx", network.model(false));
    QVERIFY(right);
    const graph::NodeId product = right->graph->findNode(network.faultyNode());
    bisection::Request request{right, {tensor::Value(network.input())}};
    request.tolerances.fixed = analysis::Tolerance{0, 1e-7, 0};
    bisection::LowerPrecision lower;
    lower.options.type = precision::NumberType::Int8;
    lower.options.queries = {"#" + std::to_string(product.value)};
    const auto found = bisection::bisect(request, lower);
    QVERIFY2(found, found ? "" : found.error().what.c_str());
    QVERIFY(found->found.differs);
    QCOMPARE(nameIn(*found, found->found.node), QString::fromStdString(network.faultyNode()));
    QCOMPARE(found->other, std::string("int8"));
}

/// Neighbours in float32 and in float64 too.
void TestPlantedDifferences::valuesAreToldApart() {
    using Texts = std::pair<std::string, std::string>;
    QCOMPARE(bisection::valueTexts({{}, 0.25, 0.5}), (Texts{"0.25", "0.5"}));
    QCOMPARE(bisection::valueTexts({{}, 1.0F, 1.00000012F}), (Texts{"1", "1.00000012"}));
    const auto [own, other] = bisection::valueTexts({{}, 1.0, 1.0000000000000002});
    QVERIFY(own == "1" && other.starts_with("1.000000000000000"));
}

void TestPlantedDifferences::progressAndCancel() {
    PlantedDifference network(0);
    const auto right = open("right.onnx", network.model(false)), wrong = open("wrong.onnx", network.model(true));
    const bisection::Request request{right, {tensor::Value(network.input())}};
    std::vector<base::Progress> told;
    base::WorkContext work;
    work.progress = [&](const base::Progress& progress) { told.push_back(progress); };
    QVERIFY(bisection::bisect(request, bisection::OtherModel{wrong}, work));
    std::size_t before = 0;
    bool isFirst = false;
    for (const base::Progress& one : told) {
        if (!one.what.starts_with("run ")) continue;
        isFirst = isFirst || one.what.starts_with("run 1 of at most ");
        QVERIFY(one.done >= before && one.done <= one.total);
        before = one.done;
    }
    QVERIFY(isFirst);
    // Stopped where the second run begins.
    std::stop_source stop;
    work.stop = stop.get_token();
    work.progress = [&](const base::Progress& progress) {
        if (progress.what.starts_with("run 2 ")) stop.request_stop();
    };
    const auto stopped = bisection::bisect(request, bisection::OtherModel{wrong}, work);
    QVERIFY(!stopped);
    QCOMPARE(stopped.error().kind, base::ErrorKind::Cancelled);
}

void TestPlantedDifferences::refusals() {
    PlantedDifference network(2);
    const auto right = open("right.onnx", network.model(false));
    const bisection::Request request{right, {tensor::Value(network.input())}};
    const auto same = bisection::bisect(request, bisection::OtherModel{right});
    QVERIFY(same && !same->found.differs);
    QCOMPARE(bisection::writePiece(*same, path("none.onnx")).error().kind, base::ErrorKind::Usage);
    QVERIFY(!bisection::bisect(request, bisection::ReferenceFile{path("nothing.npz")}));
    const std::vector<io::NamedTensor> inputOnly{{"in.x", network.input()}};
    QVERIFY(io::writeNpz(path("inputs.npz"), inputOnly));
    QVERIFY(!bisection::bisect(request, bisection::ReferenceFile{path("inputs.npz")}));
    const auto engine = bisection::bisect(request, bisection::OtherEngine{{path("no_library.so"), true, 0, {}, {}}});
    QVERIFY(!engine);
    QVERIFY(!engine.error().what.empty());
}

QTEST_GUILESS_MAIN(TestPlantedDifferences)

}  // namespace tst_planted_differences

#include "tst_planted_differences.moc"
