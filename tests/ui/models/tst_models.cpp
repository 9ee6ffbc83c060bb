// The item models on a real model, each under QAbstractItemModelTester, and the state they show.

#include <QAbstractItemModelTester>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

#include "core/graph/operation_count.h"
#include "core/io/npz/npz.h"
#include "tests/support/onnx_file.h"
#include "ui/context/inspector_context.h"
#include "ui/models/instance_table_model.h"
#include "ui/models/message_model.h"
#include "ui/models/module_tree_model.h"
#include "ui/models/node_search.h"
#include "ui/models/node_table_model.h"
#include "ui/models/node_text.h"
#include "ui/models/operator_table_model.h"
#include "ui/models/short_text.h"
#include "ui/models/watch_list_model.h"

namespace tst_models {

using namespace sonde;
using context::InspectorContext;
using context::RunState;
using context::Selection;
using models::WatchListModel;

class TestModels : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase();
    void init();
    void modelsAreConsistentThroughALife();
    void moduleTreeShowsTheHierarchy();
    void moduleFilterKeepsAncestors();
    void watchListShowsTheReferenceValue();
    void searchFindsByModuleAndOperator();
    void watchesSurviveReopening();
    void historyGoesBackAndForward();
    void aFailedOpenKeepsTheModel();
    void anUnreadableInputIsReported();
    void operatorsAreAddedUpWhenLookedAt();
    void unknownMemoryIsTold();
    void operationsAreCountedAlike();
    void namesAreShownOnOneLine();
    void namesLeaveOutWhatTheyShare();

  private:
    static QString modelFile() { return QStringLiteral(SONDE_TEST_DATA "/models/resnet18_slim.onnx"); }
    static bool load(InspectorContext& context, const QString& file) {
        QSignalSpy opened(&context.model(), &context::OpenModel::documentOpened);
        context.loader().open(file);
        return opened.wait(20000);
    }
    static bool run(InspectorContext& context) {
        QSignalSpy finished(&context.runs(), &context::Runs::runFinished);
        context.runs().run();
        return finished.wait(60000) && context.runs().state() == RunState::Finished;
    }
    QTemporaryDir m_settings;
};

void TestModels::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("SondeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings.path());
}

void TestModels::init() { QSettings().clear(); }

void TestModels::modelsAreConsistentThroughALife() {
    InspectorContext context;
    models::ModuleTreeModel tree(context.model());
    models::NodeTableModel table(context.model(), context.runs(), context.inputs(), context.valueMeasures(),
                                 context.comparison(), context.notes(), context.breakpoints());
    WatchListModel watches(context.model(), context.points(), context.runs(), context.inputs(),
                           WatchListModel::Kind::Watches);
    WatchListModel ends(context.model(), context.points(), context.runs(), context.inputs(),
                        WatchListModel::Kind::Ends);
    models::SearchResultModel results(context.model(), context.navigation(), context.runs());
    models::MessageModel log(context.messages());
    models::OperatorTableModel operators(context.model(), context.runs(), context.valueMeasures(),
                                         context.comparison());
    models::InstanceTableModel instances(context.model(), context.navigation(), context.runs(), context.inputs());
    std::vector<std::unique_ptr<QAbstractItemModelTester>> testers;
    for (QAbstractItemModel* model : std::initializer_list<QAbstractItemModel*>{&tree, &table, &watches, &ends,
                                                                                &results, &log, &operators, &instances})
        testers.push_back(
            std::make_unique<QAbstractItemModelTester>(model, QAbstractItemModelTester::FailureReportingMode::QtTest));
    QVERIFY(load(context, modelFile()));
    QVERIFY(table.rowCount() > 50);
    QVERIFY(operators.rowCount() > 3);
    QVERIFY(log.rowCount() > 0);
    const graph::NodeId out = context.model().graph().outputs().front();
    context.points().setWatched(out, true);
    context.points().setWatched(context.model().graph().inputs().front(), true);
    context.points().setEnd(out, true);
    QCOMPARE(watches.rowCount(), 2);
    QCOMPARE(ends.rowCount(), 1);
    QVERIFY(run(context));
    context.navigation().setSearchHits(
        models::searchNodes(context.model(), context.runs(), context.points(), QStringLiteral("conv")).nodes, 0);
    QVERIFY(results.rowCount() > 5);
    context.points().setWatched(out, false);
    QCOMPARE(watches.rowCount(), 1);
    context.points().clearEnds();
    QCOMPARE(ends.rowCount(), 0);
    context.loader().close();
    QCOMPARE(tree.rowCount(), 0);
    QCOMPARE(table.rowCount(), 0);
    QCOMPARE(watches.rowCount(), 0);
}

void TestModels::moduleTreeShowsTheHierarchy() {
    InspectorContext context;
    models::ModuleTreeModel tree(context.model());
    QVERIFY(load(context, modelFile()));
    const QModelIndex conv = tree.indexOf(QStringLiteral("layer1.0.conv1"));
    QVERIFY(conv.isValid());
    QCOMPARE(conv.data().toString(), QStringLiteral("conv1"));
    QCOMPARE(tree.qualname(conv.parent()), QStringLiteral("layer1.0"));
    QCOMPARE(tree.qualname(conv.parent().parent()), QStringLiteral("layer1"));
    QVERIFY(!tree.indexOf(QStringLiteral("layer9")).isValid());
}

void TestModels::moduleFilterKeepsAncestors() {
    InspectorContext context;
    models::ModuleTreeModel tree(context.model());
    models::ModuleFilter filter;
    filter.setSourceModel(&tree);
    QVERIFY(load(context, modelFile()));
    filter.setFilter(QStringLiteral("layer1.0.CONV1"));
    QModelIndex at = filter.index(0, 0);
    for (const char* name : {"layer1", "0", "conv1"}) {
        QCOMPARE(filter.rowCount(at), 1);
        at = filter.index(0, 0, at);
        QCOMPARE(at.data().toString(), QLatin1String(name));
    }
}

void TestModels::watchListShowsTheReferenceValue() {
    InspectorContext context;
    WatchListModel watches(context.model(), context.points(), context.runs(), context.inputs(),
                           WatchListModel::Kind::Watches);
    QVERIFY(load(context, modelFile()));
    const QString reference = QStringLiteral(SONDE_TEST_DATA "/models/resnet18_slim.npz");
    for (const context::ModelInput& input : context.inputs().all())
        context.inputs().setSpec(input.name, {reference, {}});
    const document::NamedNode output = context.model().document()->outputs.front();
    context.points().setWatched(output.node, true);
    QVERIFY(run(context));
    auto npz = io::NpzFile::open(reference.toStdString());
    QVERIFY(npz);
    auto expected = npz->read("out." + output.name);
    QVERIFY(expected);
    double low = 1e300, high = -1e300, sum = 0;
    for (std::int64_t i = 0; i < expected->numel(); ++i) {
        low = std::min(low, expected->toDouble(i));
        high = std::max(high, expected->toDouble(i));
        sum += expected->toDouble(i);
    }
    const auto cell = [&](int column) { return watches.index(0, column).data().toString(); };
    QTRY_VERIFY(!cell(WatchListModel::MeanColumn).isEmpty());
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-3 * std::abs(b) + 1e-3; };
    QVERIFY2(near(cell(WatchListModel::MinColumn).toDouble(), low), qPrintable(cell(WatchListModel::MinColumn)));
    QVERIFY2(near(cell(WatchListModel::MaxColumn).toDouble(), high), qPrintable(cell(WatchListModel::MaxColumn)));
    QVERIFY2(near(cell(WatchListModel::MeanColumn).toDouble(), sum / static_cast<double>(expected->numel())),
             qPrintable(cell(WatchListModel::MeanColumn)));
    QCOMPARE(cell(WatchListModel::NanColumn), QStringLiteral("0"));
    QCOMPARE(cell(WatchListModel::DTypeColumn), QStringLiteral("float32"));
}

void TestModels::searchFindsByModuleAndOperator() {
    InspectorContext context;
    QVERIFY(load(context, modelFile()));
    const auto& graph = context.model().graph();
    const auto convs =
        models::searchNodes(context.model(), context.runs(), context.points(), QStringLiteral("op:Conv")).nodes;
    QVERIFY(!convs.empty());
    for (const graph::NodeId node : convs)
        QCOMPARE(QString::fromStdString(graph.expr(graph.node(node).producer).op.name), QStringLiteral("Conv"));
    const auto inLayer = models::searchNodes(context.model(), context.runs(), context.points(),
                                             QStringLiteral("module:layer2.0 op:conv"))
                             .nodes;
    QVERIFY(!inLayer.empty() && inLayer.size() < convs.size());
    QVERIFY(models::searchNodes(context.model(), context.runs(), context.points(), QStringLiteral("nothing_like_this"))
                .nodes.empty());
    QVERIFY(models::searchNodes(context.model(), context.runs(), context.points(), QString()).nodes.empty());
    const auto number = models::searchNodes(context.model(), context.runs(), context.points(),
                                            QStringLiteral("#%1").arg(convs.front().value))
                            .nodes;
    QCOMPARE(number.size(), std::size_t{1});
    QVERIFY(number.front() == convs.front());
}

void TestModels::watchesSurviveReopening() {
    std::string name;
    {
        InspectorContext context;
        QVERIFY(load(context, modelFile()));
        const graph::NodeId node =
            models::searchNodes(context.model(), context.runs(), context.points(), QStringLiteral("op:Relu"))
                .nodes.front();
        name = context.model().graph().node(node).name;
        context.points().setWatched(node, true);
        context.points().setEnd(node, true);
        context.inputs().setSpec(context.inputs().all().front().name, {QStringLiteral("#rand(2,3)"), {}});
        context.canvases().active().expandToDepth(2);
    }
    InspectorContext context;
    QVERIFY(load(context, modelFile()));
    QCOMPARE(context.points().watched().size(), std::size_t{1});
    QCOMPARE(context.model().graph().node(context.points().watched().front()).name, name);
    QCOMPARE(context.points().ends().size(), std::size_t{1});
    QCOMPARE(context.inputs().all().front().spec.source, QStringLiteral("#rand(2,3)"));
    QVERIFY(context.canvases().active().isExpanded(context.navigation().selectionOf(QStringLiteral("layer1")).scope));
}

void TestModels::historyGoesBackAndForward() {
    InspectorContext context;
    QVERIFY(load(context, modelFile()));
    const auto nodes =
        models::searchNodes(context.model(), context.runs(), context.points(), QStringLiteral("op:Conv")).nodes;
    QVERIFY(!context.navigation().canGoBack());
    for (int i = 0; i < 3; ++i) context.navigation().navigateTo(nodes[static_cast<std::size_t>(i)]);
    QVERIFY(context.navigation().canGoBack() && !context.navigation().canGoForward());
    context.navigation().goBack();
    QVERIFY(context.navigation().selection().node == nodes[1]);
    context.navigation().goBack();
    QVERIFY(context.navigation().selection().node == nodes[0]);
    context.navigation().goForward();
    QVERIFY(context.navigation().selection().node == nodes[1]);
    context.navigation().goToParent();
    QVERIFY(context.navigation().selection().isModule());
}

void TestModels::aFailedOpenKeepsTheModel() {
    InspectorContext context;
    QVERIFY(load(context, modelFile()));
    QSignalSpy failed(&context.loader(), &context::Loader::loadFailed);
    QSignalSpy banner(&context.messages(), &context::Messages::bannerRequested);
    context.loader().open(QStringLiteral("/nowhere/no.onnx"));
    QVERIFY(failed.wait(20000));
    QCOMPARE(banner.count(), 1);
    QVERIFY(context.model().isOpen());
    QVERIFY(context.loader().state() == context::LoadState::Loaded);
}

void TestModels::anUnreadableInputIsReported() {
    InspectorContext context;
    QVERIFY(load(context, modelFile()));
    context.inputs().setSpec(context.inputs().all().front().name, {QStringLiteral("/nowhere/picture.png"), {}});
    QSignalSpy finished(&context.runs(), &context::Runs::runFinished);
    QSignalSpy banner(&context.messages(), &context::Messages::bannerRequested);
    context.runs().run();
    QVERIFY(finished.wait(20000));
    QVERIFY(context.runs().state() == RunState::Failed);
    QVERIFY(banner.count() >= 1);
    QVERIFY(context.inputs().all().front().error.has_value());
}

void TestModels::operatorsAreAddedUpWhenLookedAt() {
    InspectorContext context;
    models::OperatorTableModel operators(context.model(), context.runs(), context.valueMeasures(),
                                         context.comparison());
    operators.setLive(false);
    QVERIFY(load(context, modelFile()));
    QCOMPARE(operators.rowCount(), 0);
    operators.refresh();
    QVERIFY(operators.rowCount() > 3);
    QCOMPARE(operators.index(0, models::OperatorTableModel::Time).data(models::SortRole).toDouble(), 0.0);
    QSignalSpy stale(&operators, &models::OperatorTableModel::wentStale);
    QVERIFY(run(context));
    QCOMPARE(stale.count(), 1);
    QVERIFY(operators.rowCount() > 3);  // still those of before the run
    operators.refresh();
    QVERIFY(operators.index(0, models::OperatorTableModel::Time).data(models::SortRole).toDouble() > 0);
    context.loader().close();
    QCOMPARE(operators.rowCount(), 0);
}

/// Dim sizes that are open have no memory yet: a sum is "at least", and exact once a run has told them.
void TestModels::unknownMemoryIsTold() {
    using namespace test::onnxfile;
    constexpr int kFloat = 1;
    Graph graph;
    graph.nodes = {Node{"Relu", {"x"}, {"y"}}, Node{"Relu", {"w"}, {"z"}}};
    graph.inputs = {valueInfo("x", kFloat, {-1, 4}), valueInfo("w", kFloat, {2, 3})};
    graph.outputs = {valueInfo("y", kFloat, {-1, 4}), valueInfo("z", kFloat, {2, 3})};
    const QString file = m_settings.filePath(QStringLiteral("open.onnx"));
    QVERIFY(test::onnxfile::write(file, test::onnxfile::model(graph)));
    InspectorContext context;
    QVERIFY(load(context, file));
    models::OperatorTableModel operators(context.model(), context.runs(), context.valueMeasures(),
                                         context.comparison());
    const auto memory = [&operators](int role) {
        return operators.index(0, models::OperatorTableModel::Memory).data(role).toString();
    };
    QCOMPARE(operators.rowCount(), 1);
    QCOMPARE(memory(Qt::DisplayRole), QStringLiteral("\u2265 24 bytes"));  // 2 * 3 floats of z
    QCOMPARE(memory(Qt::ToolTipRole), QStringLiteral("memory at least 24 bytes, 1 node unknown"));
    context.inputs().setSpec(QStringLiteral("x"), {QStringLiteral("#rand(0,1,2,4)"), {}});
    QVERIFY(run(context));
    QCOMPARE(memory(Qt::DisplayRole), QStringLiteral("56 bytes"));  // and 2 * 4 of y
    const auto text = [](double known, std::size_t unknown) {
        return models::ColumnSum{known, unknown}.text(models::BytesColumn);
    };
    QCOMPARE(text(0, 0), QString());
    QCOMPARE(text(0, 3), QStringLiteral("memory not known"));
    QCOMPARE(text(524, 213), QStringLiteral("memory at least 524 bytes, 213 nodes unknown"));
}

/// ResNet-18: 20 convolutions and normalisations, 17 rectifiers, 8 additions, two poolings, flatten and linear.
void TestModels::operationsAreCountedAlike() {
    InspectorContext context;
    QVERIFY(load(context, QStringLiteral("zoo:resnet18_slim")));
    QCOMPARE(graph::operationCount(context.model().graph()), std::size_t(20 + 20 + 17 + 8 + 2 + 1 + 1));
    models::OperatorTableModel operators(context.model(), context.runs(), context.valueMeasures(),
                                         context.comparison());
    std::size_t all = 0;
    for (int row = 0; row < operators.rowCount(); ++row) all += operators.nodes(row).size();
    QCOMPARE(all, std::size_t(69));
}

void TestModels::namesAreShownOnOneLine() {
    QCOMPARE(models::shown("layer1.0.conv1"), QStringLiteral("layer1.0.conv1"));
    QCOMPARE(models::shown("a\nb\tc\u2028d\u2029e"), QStringLiteral("a b c d e"));
    QCOMPARE(models::shown("\u202ex\u202c \u2067y\u2069"), QStringLiteral(" x   y "));
    QCOMPARE(models::shown("\u05d0\u0628"), QStringLiteral("\u05d0\u0628"));
    // 300 characters stay: 180 of the beginning, the sign, 119 of the end.
    QCOMPARE(models::shown(std::string(300, 'a')).size(), 300);
    QCOMPARE(models::shown(std::string(200, 'a') + std::string(200, 'b')),
             QString(180, u'a') + QChar(0x2026) + QString(119, u'b'));
    QCOMPARE(models::shown(std::string(2000, 'a') + std::string(1'000'000, 'b')),
             QString(180, u'a') + QChar(0x2026) + QString(119, u'b'));
    QCOMPARE(models::brief(std::string(50, 'a') + std::string(50, 'b')),
             QString(36, u'a') + QChar(0x2026) + QString(23, u'b'));
    std::string brains;
    for (int i = 0; i < 400; ++i) brains += "\U0001F9E0";
    for (const QChar c : {models::shown(brains)[179], models::shown("x" + brains)[179]}) QVERIFY(!c.isHighSurrogate());
}

/// In a list of hits the ends of names tell them apart.
void TestModels::namesLeaveOutWhatTheyShare() {
    const QString first = QStringLiteral("encoder_layer_1_conv1"), second = QStringLiteral("encoder_layer_2_conv1");
    QCOMPARE(models::withoutSharedStart(second, {first}), QStringLiteral("…2_conv1"));
    QCOMPARE(models::withoutSharedStart(first, {QStringLiteral("x"), second}), QStringLiteral("…1_conv1"));
    QCOMPARE(models::withoutSharedStart(QStringLiteral("layer1.0.conv1"), {QStringLiteral("layer1.0.conv2")}),
             QStringLiteral("…conv1"));
    QCOMPARE(models::withoutSharedStart(QStringLiteral("a_relu"), {QStringLiteral("a_conv")}),
             QStringLiteral("a_relu"));
    QCOMPARE(models::withoutSharedStart(first, {first}), QStringLiteral("…conv1"));
    QCOMPARE(models::withoutSharedStart(first, {}), first);
    // The same layer of two blocks: neither their ends nor what is beside each of them tells them apart.
    const QString here = QStringLiteral("/layer1/layer1.0/conv1/Conv_output_0"),
                  there = QStringLiteral("/layer1/layer1.1/conv1/Conv_output_0");
    const auto upTo = [](qsizetype size) { return [size](const QString& text) { return text.size() <= size; }; };
    QCOMPARE(models::toldApart(here, {there}, upTo(40)), here);
    QCOMPARE(models::toldApart(here, {there}, upTo(32)), QStringLiteral("…layer1.0/conv1/Conv_output_0"));
    QCOMPARE(models::toldApart(here, {there}, upTo(22)), QStringLiteral("…0/conv1/Conv_output_0"));
    QCOMPARE(models::toldApart(here, {there}, upTo(21)), QStringLiteral("…0/conv1/Conv_output_0"));
    QCOMPARE(models::toldApart(there, {here}, upTo(21)), QStringLiteral("…1/conv1/Conv_output_0"));
    // Where it has to fit neither the block nor the end is lost.
    QCOMPARE(models::fittedApart(there, {here}, upTo(22)), QStringLiteral("…1/conv1/Conv_output_0"));
    QCOMPARE(models::fittedApart(there, {here}, upTo(21)), QStringLiteral("…1…Conv_output_0"));
    const QString third = QStringLiteral("features_denseblock3_denselayer16_conv2/conv2d"),
                  fourth = QStringLiteral("features_denseblock4_denselayer16_conv2/conv2d");
    QCOMPARE(models::fittedApart(third, {fourth}, upTo(38)), QStringLiteral("…denseblock3_denselayer16_conv2/conv2d"));
    QCOMPARE(models::fittedApart(third, {fourth}, upTo(28)), QStringLiteral("…3_denselayer16_conv2/conv2d"));
    QCOMPARE(models::fittedApart(third, {fourth}, upTo(26)), QStringLiteral("…denseblock3…conv2/conv2d"));
    QCOMPARE(models::fittedApart(third, {fourth}, upTo(12)), QString());
    // Of layers in two branches two words tell which one it is.
    const QString name = QStringLiteral("If_0_%1_branch__Inline_0__/encoder/%2/reparam_conv/Conv_output_0");
    const QString fifth = name.arg(QStringLiteral("else")).arg(0);
    const QStringList others{name.arg(QStringLiteral("else")).arg(1), name.arg(QStringLiteral("then")).arg(0),
                             name.arg(QStringLiteral("then")).arg(1)};
    QCOMPARE(models::fittedApart(fifth, others, upTo(40)), QStringLiteral("…else…0/reparam_conv/Conv_output_0"));
    QCOMPARE(models::fittedApart(fifth, others, upTo(24)), QStringLiteral("…else…0…Conv_output_0"));
    QCOMPARE(models::fittedApart(others[2], {fifth, others[0], others[1]}, upTo(24)),
             QStringLiteral("…then…1…Conv_output_0"));
}

QTEST_GUILESS_MAIN(TestModels)

}  // namespace tst_models

#include "tst_models.moc"
