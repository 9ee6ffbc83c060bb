// References of another tool, whose counted-up names may be of other nodes: what differs there is no divergence.

#include <QRegularExpression>
#include <QtTest>

#include <map>

#include "core/analysis/compare.h"
#include "core/document/document.h"
#include "core/io/npz/npz.h"

namespace tst_counted_names {

using namespace sonde;
using analysis::ComparedCase;
using graph::NodeId;
using tensor::Shape;
using tensor::Tensor;

namespace {

/// x [2] → first (of module first) = 2x → add = first + first → add_1 = add + first → second (of module second) =
/// 2 · add_1 → add_2 = second + second, the output y. With x = 1: 2, 4, 6, 12, 24.
analysis::ComparedModel sums() {
    auto graph = std::make_shared<graph::InternalGraph>();
    const NodeId x = graph->addInput(graph->mainId(), "x", tensor::TypeInfo::tensor(tensor::DType::Float32, Shape{2}));
    const auto add = [&](NodeId a, NodeId b, const std::string& name, const std::string& module = {}) {
        graph::Expr expr;
        expr.op = {"", "Add", 14};
        expr.target = "Add";
        expr.qualname = module;
        expr.arguments = {graph::Argument::of(a), graph::Argument::of(b)};
        return graph->expr(graph->addExpr(std::move(expr), std::span(&name, 1))).outputs[0];
    };
    const NodeId first = add(x, x, "first", "first"), sum = add(first, first, "add"), next = add(sum, first, "add_1");
    const NodeId second = add(next, next, "second", "second"), last = add(second, second, "add_2");
    graph->setResult(graph->mainId(), graph::Argument::of(last));
    analysis::ComparedModel model{graph, {{"x", x}}, {{"y", last}}};
    model.looseNames = true;
    return model;
}

Tensor pair(float value) { return Tensor::of<float>({2}, std::vector<float>{value, value}); }

using Values = std::map<std::string, Tensor>;

/// The names of what differs, in graph order, and what is not matched: "add_1, second; node.add".
QString found(Values values) {
    values.emplace("in.x", pair(1));
    analysis::ReferenceValues reference;
    for (const auto& [key, value] : values) reference.keys.push_back(key);
    reference.read = [&values](const std::string& key) -> base::Result<Tensor> { return values.at(key); };
    exec::Runner runner(1);
    const auto cases = analysis::compareWithin({}, sums(), reference, runner);
    if (!cases) return QString::fromStdString(cases.error().text());
    QStringList differ, unmatched;
    for (const analysis::ComparedValue& value : cases->front().values)
        if (!value.ok) differ << QString::fromStdString(value.name);
    for (const std::string& key : cases->front().unmatched) unmatched << QString::fromStdString(key);
    return differ.join(QStringLiteral(", ")) + QStringLiteral("; ") + unmatched.join(QStringLiteral(", "));
}

}  // namespace

class TestCountedNames : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void whatDiffersIsMatchedOrLeftOut_data();
    void whatDiffersIsMatchedOrLeftOut();
    void aModelWithShiftedNamesDivergesWhereItDoes_data();
    void aModelWithShiftedNamesDivergesWhereItDoes();
};

void TestCountedNames::whatDiffersIsMatchedOrLeftOut_data() {
    QTest::addColumn<Values>("values");
    QTest::addColumn<QString>("expected");
    const auto row = [](const char* name, Values values, const char* expected) {
        QTest::newRow(name) << std::move(values) << QString::fromLatin1(expected);
    };
    row("all right", {{"node.add", pair(4)}, {"node.add_1", pair(6)}, {"out.y", pair(24)}}, "; ");
    row("the output is right", {{"node.add", pair(6)}, {"node.add_1", pair(24)}, {"out.y", pair(24)}},
        "; node.add, node.add_1");
    // add_1 has a right module behind it, so it is another node; add is counted up from the same name.
    row("the divergence is behind",
        {{"node.add", pair(6)}, {"node.add_1", pair(5)}, {"node.second", pair(12)}, {"out.y", pair(25)}},
        "y; node.add, node.add_1");
    // Weights of the second module are others: what comes before it has it alone to be judged by.
    row("the divergence is the module",
        {{"node.first", pair(2)},
         {"node.add", pair(4)},
         {"node.add_1", pair(6)},
         {"node.second", pair(13)},
         {"out.y", pair(26)}},
        "second, y; ");
    row("shifted by one of another shape",
        {{"node.add", Tensor::of<float>({3}, std::vector<float>{1, 1, 1})},
         {"node.add_1", pair(4)},
         {"node.second", pair(13)},
         {"out.y", pair(26)}},
        "second, y; node.add, node.add_1");
    // Nothing says that this is another node, and what follows is wrong as well.
    row("a sum that is wrong",
        {{"node.first", pair(2)},
         {"node.add", pair(4)},
         {"node.add_1", pair(7)},
         {"node.second", pair(14)},
         {"out.y", pair(28)}},
        "add_1, second, y; ");
    // What has the name of its module is that, whatever follows.
    row("a module that is wrong", {{"node.first", pair(3)}, {"node.second", pair(12)}, {"out.y", pair(24)}}, "first; ");
}

void TestCountedNames::whatDiffersIsMatchedOrLeftOut() {
    QFETCH(Values, values);
    QTEST(found(values), "expected");
}

void TestCountedNames::aModelWithShiftedNamesDivergesWhereItDoes_data() {
    QTest::addColumn<QString>("archive");
    QTest::newRow("traced") << QStringLiteral("gpt_mini.trace.pt");
    QTest::newRow("scripted") << QStringLiteral("gpt_mini.script.pt");
}

/// torch's own values of a transformer under names that are counted up from 1 more ("add_1" is called "add_2"), and its
/// output with another last number: nothing before the last layer, whose name is sure, may be told to differ.
void TestCountedNames::aModelWithShiftedNamesDivergesWhereItDoes() {
    QFETCH(QString, archive);
    const std::string folder = SONDE_TEST_DATA "/models/";
    const auto document = document::open(folder + archive.toStdString());
    const auto file = io::NpzFile::open(folder + "gpt_mini.npz");
    QVERIFY(document && file);
    static const QRegularExpression counted(
        QStringLiteral("^node\\.(add|mul|view|matmul|transpose)(_(\\d+))?(\\.\\w+)?$"));
    std::map<std::string, std::string> keys;  // the shifted one → that of the file
    for (const std::string& key : file->keys()) {
        const auto match = counted.match(QString::fromStdString(key));
        const QString shifted = QStringLiteral("node.%1_%2%3")
                                    .arg(match.captured(1))
                                    .arg(match.captured(3).toInt() + 1)
                                    .arg(match.captured(4));
        if (!key.starts_with("case1.")) keys.emplace(match.hasMatch() ? shifted.toStdString() : key, key);
    }
    analysis::ReferenceValues reference;
    for (const auto& [key, original] : keys) reference.keys.push_back(key);
    reference.read = [&](const std::string& key) -> base::Result<Tensor> {
        SONDE_ASSIGN(Tensor value, file->read(keys.at(key)));
        if (key != "out.logits") return value;
        std::vector<float> numbers;
        for (std::int64_t i = 0; i < value.numel(); ++i) numbers.push_back(static_cast<float>(value.toDouble(i)));
        numbers.back() += 1;
        return Tensor::of<float>(value.shape(), numbers);
    };
    analysis::ComparedModel model{(*document)->graph, {}, {}};
    for (const auto& input : (*document)->inputs) model.inputs.emplace_back(input.name, input.node);
    for (const auto& output : (*document)->outputs) model.outputs.emplace_back(output.name, output.node);
    model.looseNames = true;
    model.areOutputsNamed = false;
    exec::Runner runner(1);
    const auto cases = analysis::compareWithin({}, model, reference, runner);
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    QStringList differ;
    for (const analysis::ComparedValue& value : cases->front().values)
        if (!value.ok) differ << QString::fromStdString(value.name);
    QCOMPARE(differ, QStringList{QStringLiteral("logits")});
    QVERIFY(cases->front().unmatched.size() > 20);
    QVERIFY(cases->front().values.size() > 20);
}

QTEST_GUILESS_MAIN(TestCountedNames)

}  // namespace tst_counted_names

#include "tst_counted_names.moc"
