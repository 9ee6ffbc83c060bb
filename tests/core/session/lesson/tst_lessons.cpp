// The lessons that come with Sonde on models of different kinds, without a window: each on three, step by step, with
// the numbers of the run, and their questions. What must hold of the numbers is arithmetic.

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

#include "core/session/lesson/lesson_run.h"
#include "tests/support/branched_convolutions.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"

namespace tst_lessons {

using namespace sonde;
using session::LessonAnswer;
using session::LessonRun;
using session::Session;
namespace onnx = test::onnxfile;

class TestLessons : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase();
    void eachRunsOnThreeModels_data();
    void eachRunsOnThreeModels();
    void aSumHasNoError();
    void whatAModelLacksIsSaid_data();
    void whatAModelLacksIsSaid();
    void aRunWithNanIsNoneToHideOneIn();
    void everyNormIsANormalisation();
    void editsEndWithTheirStep();
    void numbersAreThoseOfTheRun();
    void sequencesAreLookedAt();
    void whatWasReachedIsMeant();
    void branchesAreTakenBeforeAnythingIsBound();
    void wrongAnswersAreNotRight();
    void filesAreLessonsToo();
    void modulesAreFoundInEveryFormat_data();
    void modulesAreFoundInEveryFormat();
    void countsAreExact();
    void sumsShowTheirLargestProducts();
    void operatorsOfCalledModulesAreTheirClasses();
    void aLayerThatWasTakenApartHasItsWeights();
    void attentionOfAModelWithAMaskHasSomethingToSee();

  private:
    /// y = recurrent(x [5,1,3]) with 2 states.
    void writeRecurrent(const QString& path, const char* op, std::int64_t gates);
    QString model(const QString& name) const {
        if (name.startsWith(QStringLiteral("zoo:"))) return name;
        if (name.endsWith(QStringLiteral(".made"))) return m_files.filePath(QString(name).replace(".made", ".onnx"));
        return QStringLiteral(SONDE_TEST_DATA "/models/") + name;
    }
    /// An opened model and a lesson on it.
    std::optional<LessonRun> begin(Session& session, const QString& name, const char* lesson) {
        const auto opened = session.open(model(name).toStdString());
        if (!opened) return std::nullopt;
        // Of dynamic dimensions one is 1 by default: the reference has real sequences.
        const QString values = model(QString(name).replace(QStringLiteral(".onnx"), QStringLiteral(".npz")));
        if (values.endsWith(QStringLiteral(".npz"))) session.runs().giveFile(values.toStdString());
        auto text = session::openLesson(lesson);
        if (!text) return std::nullopt;
        auto run = LessonRun::begin(session, *std::move(text));
        if (!run) {
            qWarning("%s", run.error().what.c_str());
            return std::nullopt;
        }
        return std::optional<LessonRun>(std::move(*run));
    }
    static double number(LessonRun& run, const std::string& expression) {
        lessons::Question question;
        question.answer = expression;
        const auto solved = session::solution(run.lesson(), question, run.values());
        return solved ? std::stod(solved->number) : std::nan("");
    }
    QTemporaryDir m_files;
};

void TestLessons::writeRecurrent(const QString& path, const char* op, std::int64_t gates) {
    const auto weights = [](std::int64_t count, float from) {
        std::vector<float> values;
        for (std::int64_t i = 0; i < count; ++i) values.push_back(from + 0.1F * static_cast<float>(i % 7));
        return test::floatBytes(values);
    };
    onnx::Graph graph{{{op, {"x", "w", "r", "b"}, {"states"}}, {"Relu", {"states"}, {"y"}}},
                      {onnx::valueInfo("x", 1, {5, 1, 3})},
                      {onnx::valueInfo("y", 1, {5, 1, 1, 2})},
                      {onnx::rawTensor("w", 1, {1, gates * 2, 3}, weights(gates * 6, -0.3F)),
                       onnx::rawTensor("r", 1, {1, gates * 2, 2}, weights(gates * 4, -0.2F)),
                       onnx::rawTensor("b", 1, {1, gates * 4}, weights(gates * 4, -0.1F))}};
    graph.nodes[0].attributes.push_back(onnx::intAttribute("hidden_size", 2));
    QVERIFY(onnx::write(path, onnx::model(graph, {}, {onnx::opset("", 17)})));
}

void TestLessons::initTestCase() {
    writeRecurrent(m_files.filePath("gru.onnx"), "GRU", 3);
    writeRecurrent(m_files.filePath("rnn.onnx"), "RNN", 1);
}

void TestLessons::eachRunsOnThreeModels_data() {
    QTest::addColumn<QString>("lesson");
    QTest::addColumn<QString>("name");
    const std::pair<const char*, QStringList> rows[] = {
        {"convolution", {"resnet18_slim.onnx", "zoo:mobilenet_v3_small", "unet_small.trace.pt", "zoo:vit_small"}},
        {"residual", {"resnet18_slim.onnx", "zoo:mobilenet_v3_small", "gpt_mini.onnx", "zoo:vit_small"}},
        {"normalisation", {"zoo:resnet18_slim", "zoo:gpt_mini", "zoo:vit_small", "unet_small.trace.pt"}},
        {"attention", {"vit_small.onnx", "gpt_mini.onnx", "zoo:gpt_mini"}},
        {"recurrent", {"lstm_classifier.onnx", "zoo:lstm_classifier", "gru.made", "rnn.made"}},
        {"nan", {"resnet18_slim.onnx", "zoo:gpt_mini", "lstm_classifier.onnx", "unet_small.onnx"}}};
    for (const auto& [lesson, models] : rows)
        for (const QString& name : models)
            QTest::addRow("%s, %s", lesson, qPrintable(name)) << QString::fromLatin1(lesson) << name;
}

void TestLessons::eachRunsOnThreeModels() {
    QFETCH(QString, lesson);
    QFETCH(QString, name);
    Session session;
    std::optional<LessonRun> run = begin(session, name, qPrintable(lesson));
    QVERIFY(run.has_value());
    QVERIFY(run->stepCount() >= 3);
    for (std::size_t i = 0; i < run->stepCount(); ++i) {
        const auto done = run->goTo(i);
        QVERIFY2(done, done ? "" : (run->step().title + ": " + done.error().text()).c_str());
        const auto values = run->values();
        const session::StepText text = session::textOf(run->lesson(), run->step(), values);
        QVERIFY2(text.isComplete, (run->step().title + "\n" + text.markdown).c_str());
        QVERIFY2(text.markdown.find("…") == std::string::npos, text.markdown.c_str());
        QCOMPARE(text.asks.size(), run->step().questions.size());
        for (const std::string& ask : text.asks) QVERIFY2(ask.find("{{") == std::string::npos, ask.c_str());
        for (const lessons::Question& question : run->step().questions) {
            const auto answer = session::solution(run->lesson(), question, values);
            QVERIFY2(answer, answer ? "" : (question.ask + ": " + answer.error().what).c_str());
            const auto verdict = session::check(run->lesson(), question, *answer, values);
            QVERIFY(verdict);
            QVERIFY2(verdict->isRight, (question.ask + " " + answer->number).c_str());
        }
    }
    QVERIFY2(run->stepCount() + 1 >= run->lesson().lesson().steps.size(), "at most one step is left out");
}

/// An addition of float32 rounds once, whoever adds.
void TestLessons::aSumHasNoError() {
    Session session;
    std::optional<LessonRun> run = begin(session, "resnet18_slim.onnx", "residual");
    QVERIFY(run && run->goTo(1));
    const session::StepText text = session::textOf(run->lesson(), run->step(), run->values());
    QVERIFY2(text.markdown.find("largest error of `skip + branch` is 0.") != std::string::npos, text.markdown.c_str());
}

void TestLessons::whatAModelLacksIsSaid_data() {
    QTest::addColumn<QString>("lesson");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("text");
    QTest::newRow("convolution") << "convolution"
                                 << "lstm_classifier.onnx"
                                 << "the lesson needs a convolution in floating point, which the model has not";
    QTest::newRow("residual") << "residual"
                              << "zoo:vgg11?width=0.1"
                              << "the lesson needs a residual connection";
    QTest::newRow("normalisation") << "normalisation"
                                   << "resnet18_slim.onnx"
                                   << "the lesson needs a normalisation";
    QTest::newRow("attention") << "attention"
                               << "resnet18_slim.onnx"
                               << "the lesson needs an attention";
    QTest::newRow("recurrent") << "recurrent"
                               << "gpt_mini.onnx"
                               << "the lesson needs a recurrent layer";
    QTest::newRow("nan") << "nan"
                         << "zoo:seed"
                         << "the lesson needs a layer";
}

void TestLessons::whatAModelLacksIsSaid() {
    QFETCH(QString, lesson);
    QFETCH(QString, name);
    QFETCH(QString, text);
    Session session;
    QString path = model(name);
    if (name.contains(u'?')) path = QStringLiteral("unet_small.onnx"), path = model(path);
    QVERIFY(session.open(path.toStdString()));
    auto opened = session::openLesson(lesson.toStdString());
    QVERIFY(opened);
    const auto run = LessonRun::begin(session, *std::move(opened));
    QVERIFY(!run);
    QVERIFY2(QString::fromStdString(run.error().what).startsWith(text), run.error().what.c_str());
    QVERIFY(run.error().kind == base::ErrorKind::Usage);
}

/// y = relu(log(x)) after a layer, so that the run has NaN before the lesson breaks anything.
void TestLessons::aRunWithNanIsNoneToHideOneIn() {
    const onnx::Graph graph{{{"Gemm", {"x", "w"}, {"h"}}, {"Log", {"h"}, {"bad"}}, {"Gemm", {"bad", "w"}, {"y"}}},
                            {onnx::valueInfo("x", 1, {1, 2})},
                            {onnx::valueInfo("y", 1, {1, 2})},
                            {onnx::rawTensor("w", 1, {2, 2}, test::floatBytes({1, 0, 0, 1}))}};
    const QString path = m_files.filePath(QStringLiteral("log.onnx"));
    QVERIFY(onnx::write(path, onnx::model(graph, {}, {onnx::opset("", 17)})));
    for (const float x : {-1.0F, 1.0F}) {
        Session session;
        QVERIFY(session.open(path.toStdString()));
        session.runs().giveValues({tensor::Value(tensor::Tensor::of<float>({1, 2}, {x, 2}))});
        auto lesson = session::openLesson("nan");
        QVERIFY(lesson);
        const auto run = LessonRun::begin(session, *std::move(lesson));
        QCOMPARE(static_cast<bool>(run), x > 0);  // the logarithm of -1 is NaN
        if (!run)
            QVERIFY2(run.error().what.starts_with("the lesson needs a run without NaN, and this one has some already"),
                     run.error().what.c_str());
    }
}

void TestLessons::everyNormIsANormalisation() {
    const onnx::Graph graph{{{"InstanceNormalization", {"x", "w", "b"}, {"y"}}},
                            {onnx::valueInfo("x", 1, {1, 2, 3})},
                            {onnx::valueInfo("y", 1, {1, 2, 3})},
                            {onnx::rawTensor("w", 1, {2}, test::floatBytes({1, 2})),
                             onnx::rawTensor("b", 1, {2}, test::floatBytes({0, 1}))}};
    QVERIFY(
        onnx::write(m_files.filePath(QStringLiteral("instance.onnx")), onnx::model(graph, {}, {onnx::opset("", 17)})));
    Session session;
    auto run = begin(session, QStringLiteral("instance.made"), "normalisation");
    QVERIFY(run);
    QCOMPARE(run->lesson().graph().node(run->lesson().node("norm")).name, std::string("y"));
    // Measured on the value that it is given: ten times as much in gives the same out.
    QVERIFY(run->goTo(1));
    const double before = number(*run, "std($norm)");
    QVERIFY(run->goTo(3));
    QVERIFY(std::abs(number(*run, "std($norm)") - before) < 1e-3 * before);
}

void TestLessons::editsEndWithTheirStep() {
    Session session;
    auto run = begin(session, QStringLiteral("resnet18_slim.onnx"), "residual");
    QVERIFY(run);
    QVERIFY(run->goTo(3));
    QCOMPARE(session.edits().all().size(), std::size_t{1});
    // The branch is silent: the sum is what goes around it.
    QCOMPARE(number(*run, "max(abs($sum - $skip))"), 0.0);
    QVERIFY(number(*run, "max(abs($skip))") > 0);
    QVERIFY(run->goTo(2));
    QVERIFY(session.edits().empty());
    QVERIFY(!session.debugger().hasBegun());
    QVERIFY(number(*run, "norm($branch)") > 0);
    QVERIFY(!run->goTo(17));
}

/// Conv2d of a constant picture is its bias; the sum of a softmax is 1.
void TestLessons::numbersAreThoseOfTheRun() {
    Session session;
    auto run = begin(session, QStringLiteral("resnet18_slim.onnx"), "convolution");
    QVERIFY(run);
    QVERIFY(run->goTo(1));
    // conv1 of this network: 16 filters over 3 channels of 7 by 7.
    const session::StepText text = session::textOf(run->lesson(), run->step(), run->values());
    QVERIFY2(text.markdown.find("`float32[16,3,7,7]`") != std::string::npos, text.markdown.c_str());
    QVERIFY(text.markdown.find("there are 16.") != std::string::npos);
    LessonAnswer answer;
    answer.number = "147";
    auto verdict = session::check(run->lesson(), run->step().questions[0], answer, run->values());
    QVERIFY(verdict && verdict->isRight);
    QVERIFY(verdict->text.starts_with("Right: 147. However"));
    QVERIFY(run->goTo(2));
    const std::string formula = session::textOf(run->lesson(), run->step(), run->values()).markdown;
    QVERIFY2(formula.find("\n`/conv1/Conv_output_0[0, ") != std::string::npos, formula.c_str());
    QVERIFY2(formula.find("= ") != std::string::npos, formula.c_str());
    QVERIFY(run->goTo(4));
    QCOMPARE(number(*run, "std($conv[0, 0])"), 0.0);
}

void TestLessons::sequencesAreLookedAt() {
    Session session;
    auto run = begin(session, QStringLiteral("gpt_mini.onnx"), "attention");
    QVERIFY(run);
    QVERIFY(run->goTo(2));
    QVERIFY(number(*run, "$weights.shape[-1]") > 4);
    QVERIFY(std::abs(number(*run, "max(abs(sum($weights, axis=-1) - 1))")) < 1e-5);
    // No position looks at later ones: of n by n weights, n (n - 1) / 2 are 0.
    const double n = number(*run, "$weights.shape[-1]");
    const double share = number(*run, "mean($weights == 0)");
    QVERIFY2(std::abs(share - (n - 1) / (2 * n)) < 1e-3, qPrintable(QString::number(share)));
    QVERIFY(run->goTo(3));
    QVERIFY(std::abs(number(*run, "max($weights)") - 1 / n) < 1e-3);
    Session other;
    auto state = begin(other, QStringLiteral("gru.made"), "recurrent");
    QVERIFY(state);
    QVERIFY(state->goTo(1));
    const double before = number(*state, "max(abs($layer))");
    QVERIFY(before > 0 && before < 1);
    QVERIFY(state->goTo(2));
    QVERIFY(number(*state, "max(abs($layer))") != before);
}

/// Of two convolutions the one that a run computed, whichever comes first.
void TestLessons::whatWasReachedIsMeant() {
    Session session;
    const auto run = begin(session, QStringLiteral("resnet18_slim.onnx"), "convolution");
    QVERIFY(run);
    const graph::NodeId first = run->lesson().node("conv");
    QVERIFY(first.valid());
    const document::Document& document = *session.document();
    const lessons::BoundLesson other(run->lesson().lesson(), document.graph, document.modules,
                                     [first](graph::NodeId node) { return node != first; });
    QVERIFY(other.node("conv").valid() && other.node("conv") != first);
    // Nothing that could be meant was reached: as before a run.
    const lessons::BoundLesson none(run->lesson().lesson(), document.graph, document.modules,
                                    [](graph::NodeId) { return false; });
    QCOMPARE(none.node("conv"), first);
}

/// The first convolution of the file is in the branch that is not taken: the lesson is about the other one.
void TestLessons::branchesAreTakenBeforeAnythingIsBound() {
    const QString path = m_files.filePath(QStringLiteral("branches.onnx"));
    QVERIFY(test::writeConvolutionsInBranches(path));
    Session session;
    QVERIFY(session.open(path.toStdString()));
    auto text = session::openLesson("convolution");
    QVERIFY(text);
    auto run = LessonRun::begin(session, *std::move(text));
    QVERIFY(run);
    QCOMPARE(run->lesson().graph().node(run->lesson().node("conv")).name, std::string("taken"));
    for (std::size_t i = 0; i < run->stepCount(); ++i) {
        const auto done = run->goTo(i);
        QVERIFY2(done, done ? "" : done.error().text().c_str());
        QVERIFY(session::textOf(run->lesson(), run->step(), run->values()).isComplete);
    }
}

void TestLessons::wrongAnswersAreNotRight() {
    Session session;
    auto run = begin(session, QStringLiteral("resnet18_slim.onnx"), "convolution");
    QVERIFY(run);
    QVERIFY(run->goTo(1));
    const lessons::Question& count = run->step().questions[0];
    LessonAnswer answer;
    for (const char* const given : {"146", "147.5", "-147", "inf", "nan"}) {
        answer.number = given;
        const auto verdict = session::check(run->lesson(), count, answer, run->values());
        QVERIFY(verdict && !verdict->isRight);
        QCOMPARE(verdict->text, std::string("Not yet."));
    }
    for (const char* const given : {"", "many", "1 2x", "147abc"}) {
        answer.number = given;
        QVERIFY(!session::check(run->lesson(), count, answer, run->values()));
    }
    answer.number = " 147.0 ";
    QVERIFY(session::check(run->lesson(), count, answer, run->values())->isRight);
    // Values that are not known are no wrong answer.
    QVERIFY(!session::check(run->lesson(), count, answer, {}));
    QVERIFY(run->goTo(3));
    const lessons::Question& choice = run->step().questions[0];
    for (std::size_t i = 0; i < 4; ++i) {
        answer.choice = i;
        QCOMPARE(session::check(run->lesson(), choice, answer, {})->isRight, i == 1);
    }
    QVERIFY(run->goTo(5));
    const lessons::Question& node = run->step().questions[0];
    answer.node = *session.document()->findNode("/layer2/layer2.0/conv1/Conv_output_0");
    QVERIFY(session::check(run->lesson(), node, answer, {})->isRight);
    answer.node = *session.document()->findNode("/relu/Relu_output_0");
    QVERIFY(!session::check(run->lesson(), node, answer, {})->isRight);
    answer.node = {};
    QVERIFY(!session::check(run->lesson(), node, answer, {})->isRight);
}

void TestLessons::filesAreLessonsToo() {
    QVERIFY(!session::openLesson("nothing"));
    QFile file(m_files.filePath("own.md"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("# Own\n\n```sonde\nbind gate: module *.conv2\n```\n\n## One\n\n{{name $gate}}\n");
    file.close();
    auto own = session::openLesson(file.fileName().toStdString());
    QVERIFY(own);
    QCOMPARE(own->title, std::string("Own"));
    Session session;
    QVERIFY(session.open(model("resnet18_slim.onnx").toStdString()));
    auto run = LessonRun::begin(session, *std::move(own));
    QVERIFY(run);
    QCOMPARE(run->lesson().graph().expr(run->lesson().graph().node(run->lesson().node("gate")).producer).qualname,
             std::optional<std::string>("layer1.0.conv2"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("# Own\n\n## One\n\n{{max($x)}}\n");
    file.close();
    const auto broken = session::openLesson(file.fileName().toStdString());
    QVERIFY(!broken);
    QVERIFY(broken.error().kind == base::ErrorKind::Unreadable);
    QVERIFY2(broken.error().where.ends_with("own.md, line 5"), broken.error().where.c_str());
}

/// Leaf layers are one call in built-in models and archives, and scopes in ONNX files; blocks are scopes in all.
void TestLessons::modulesAreFoundInEveryFormat_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("pattern");
    QTest::addColumn<QString>("qualname");
    for (const char* const name :
         {"resnet18_slim.onnx", "unet_small.trace.pt", "unet_small.script.pt", "zoo:resnet18_slim"}) {
        const QString model = QString::fromLatin1(name);
        const bool isUnet = model.startsWith(QStringLiteral("unet"));
        const char *leaf = isUnet ? "enc1.conv1" : "layer1.0.conv1", *leaves = isUnet ? "enc?.conv2" : "layer2.*.conv2",
                   *first = isUnet ? "enc1.conv2" : "layer2.0.conv2", *block = isUnet ? "enc2" : "layer2.1";
        QTest::addRow("leaf, %s", name) << model << leaf << leaf;
        QTest::addRow("leaves, %s", name) << model << leaves << first;
        QTest::addRow("block, %s", name) << model << block << block;
    }
}

void TestLessons::modulesAreFoundInEveryFormat() {
    QFETCH(QString, name);
    QFETCH(QString, pattern);
    QFETCH(QString, qualname);
    Session session;
    QVERIFY(session.open(model(name).toStdString()));
    lessons::LessonProblem problem;
    const std::string text = "# T\n\n```sonde\nbind a: module " + pattern.toStdString() +
                             " | a module\n```\n\n## One\n\n{{name $a}}\n\n```sonde\nrun\nformula $a\n```\n";
    auto lesson = lessons::parse(text, problem);
    QVERIFY2(lesson, problem.what.c_str());
    const document::Document& document = *session.document();
    const lessons::BoundLesson bound(*lesson, document.graph, document.modules);
    QVERIFY2(bound.missing().empty(), bound.missing().empty() ? "" : bound.missingText().c_str());
    // The same node that the command line calls QUALNAME:.
    const auto named = document.findNode(qualname.toStdString() + ":");
    QVERIFY(named);
    QCOMPARE(bound.node("a"), *named);
    // Its formula is that of the operation in it.
    auto run = LessonRun::begin(session, *std::move(lesson));
    QVERIFY(run);
    const auto done = run->goTo(0);
    QVERIFY2(done, done ? "" : done.error().text().c_str());
    const session::StepText written = session::textOf(run->lesson(), run->step(), run->values());
    QVERIFY2(written.isComplete, written.markdown.c_str());
    if (!pattern.contains(u"conv1")) return;
    // So is its weight, [out, in, 3, 3].
    const std::string own = "# T\n\n```sonde\nbind a: module " + pattern.toStdString() +
                            " | a module\nbind w: weight of $a | its weight\n```\n\n## One\n\n{{shape $w}}\n";
    auto weights = lessons::parse(own, problem);
    QVERIFY2(weights, problem.what.c_str());
    const lessons::BoundLesson withWeight(*weights, document.graph, document.modules);
    QVERIFY2(withWeight.missing().empty(), qPrintable(name));
    const auto& constant = document.graph->node(withWeight.node("w")).constant;
    QVERIFY(constant && constant->isTensor());
    QCOMPARE(constant->tensor().rank(), std::size_t{4});
}

/// Fractions of the numbers of a picture: 3 · 148 · 149 = 66,156.
void TestLessons::countsAreExact() {
    onnx::Graph graph{
        {{"Relu", {"x"}, {"y"}}}, {onnx::valueInfo("x", 1, {3, 148, 149})}, {onnx::valueInfo("y", 1, {3, 148, 149})}};
    const QString path = m_files.filePath("counts.onnx");
    QVERIFY(onnx::write(path, onnx::model(graph)));
    lessons::LessonProblem problem;
    auto lesson = lessons::parse(
        "# T\n\n```sonde\nbind y: first kind relu\n```\n\n## One\n\n{{$y.size}}, {{$y.size / 7}}\n\n```sonde\nrun\n```\n\n"
        "```question\nask: How many?\nanswer: $y.size\ntolerance: 0\n```\n",
        problem);
    QVERIFY2(lesson, problem.what.c_str());
    Session session;
    QVERIFY(session.open(path.toStdString()));
    auto run = LessonRun::begin(session, *std::move(lesson));
    QVERIFY(run);
    QVERIFY(run->goTo(0));
    const std::string text = session::textOf(run->lesson(), run->step(), run->values()).markdown;
    QVERIFY2(text.find("66,156, 9451") != std::string::npos, text.c_str());
    LessonAnswer answer;
    for (const char* const given : {"66156", "66,156", "66156.0"}) {
        answer.number = given;
        const auto verdict = session::check(run->lesson(), run->step().questions[0], answer, run->values());
        QVERIFY2(verdict && verdict->isRight, given);
        QCOMPARE(verdict->text, std::string("Right: 66,156."));
    }
    for (const char* const given : {"66160", "66.156", "6,6156"}) {
        answer.number = given;
        const auto verdict = session::check(run->lesson(), run->step().questions[0], answer, run->values());
        QVERIFY2(verdict && !verdict->isRight, given);
    }
}

/// y = x · w + b of 5 inputs and one output.
void TestLessons::sumsShowTheirLargestProducts() {
    onnx::Graph graph{{{"Gemm", {"x", "w", "b"}, {"y"}}},
                      {onnx::valueInfo("x", 1, {1, 5})},
                      {onnx::valueInfo("y", 1, {1, 1})},
                      {onnx::rawTensor("w", 1, {5, 1}, test::floatBytes({0.5F, -3, 2, 0.25F, 1})),
                       onnx::rawTensor("b", 1, {1}, test::floatBytes({7}))}};
    const QString path = m_files.filePath("sum.onnx");
    QVERIFY(onnx::write(path, onnx::model(graph)));
    lessons::LessonProblem problem;
    auto lesson = lessons::parse(
        "# T\n\n```sonde\nbind y: first kind linear\n```\n\n## One\n\n```sonde\nrun\nformula $y\n```\n", problem);
    QVERIFY2(lesson, problem.what.c_str());
    Session session;
    QVERIFY(session.open(path.toStdString()));
    QVERIFY(session.inputs().set("x", {"[[4,1,-2,8,0.5]]", {}}));
    session.inputs().read();
    auto run = LessonRun::begin(session, *std::move(lesson));
    QVERIFY(run);
    QVERIFY(run->goTo(0));
    const std::string text = session::textOf(run->lesson(), run->step(), run->values()).markdown;
    // 2, -3, -4, 2 and 0.5: the first of equal ones by its place.
    const std::string expected =
        "The largest of 5 products w * x: `2 * (-2)`, `-3 * 1`, `0.5 * 4`; the others add up to 2.5.";
    QVERIFY2(text.find(expected) != std::string::npos, text.c_str());
}

void TestLessons::operatorsOfCalledModulesAreTheirClasses() {
    const QString path = m_files.filePath("operators.md");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "# Own\n\n```sonde\nbind a: module conv1\nbind b: query op:flatten\n```\n\n## One\n\n"
        "{{operator $a}} and {{operator $b}}\n");
    file.close();
    Session session;
    const auto run = begin(session, "zoo:resnet18_slim", qPrintable(path));
    QVERIFY(run.has_value());
    const auto text = session::textOf(run->lesson(), run->step(), {});
    QVERIFY2(text.markdown.find("`Conv2d` and `flatten.using_ints`") != std::string::npos, text.markdown.c_str());
}

/// y = x w + b: the sum is what the layer gives, and its first weight is w, not b.
void TestLessons::aLayerThatWasTakenApartHasItsWeights() {
    const QString path = m_files.filePath("apart.onnx"), text = m_files.filePath("apart.md");
    const auto zeros = [](std::size_t count) { return test::floatBytes(std::vector<float>(count, 0)); };
    onnx::Graph graph{{{"MatMul", {"x", "w"}, {"product"}}, {"Add", {"b", "product"}, {"y"}}},
                      {onnx::valueInfo("x", 1, {2, 3})},
                      {onnx::valueInfo("y", 1, {2, 4})},
                      {onnx::rawTensor("b", 1, {4}, zeros(4)), onnx::rawTensor("w", 1, {3, 4}, zeros(12))}};
    QVERIFY(onnx::write(path, onnx::model(graph)));
    QFile file(text);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "# Own\n\n```sonde\nbind y: first kind sum\nbind first: weight 0 of $y\nbind second: weight 1 of $y\n```\n\n"
        "## One\n\n{{name $first}} {{name $second}}\n");
    file.close();
    Session session;
    const auto run = begin(session, "apart.made", qPrintable(text));
    QVERIFY(run.has_value());
    const auto& lesson = run->lesson();
    QCOMPARE(lesson.graph().node(lesson.node("first")).name, std::string("w"));
    QCOMPARE(lesson.graph().node(lesson.node("second")).name, std::string("b"));
}

/// Without a value of its own the mask hides nothing, so that scores differ.
void TestLessons::attentionOfAModelWithAMaskHasSomethingToSee() {
    Session session;
    std::optional<LessonRun> run = begin(session, "zoo:bert_base?layers=1&vocab=100", "attention");
    QVERIFY(run.has_value());
    QVERIFY(run->goTo(1));
    const double lowest = number(*run, "min($scores)"), highest = number(*run, "max($scores)");
    QVERIFY2(lowest > -1e6 && highest > lowest, qPrintable(QStringLiteral("%1 %2").arg(lowest).arg(highest)));
    QVERIFY(run->goTo(2));
    QVERIFY(number(*run, "max($weights)") > number(*run, "min($weights)"));
}

QTEST_MAIN(TestLessons)

}  // namespace tst_lessons

#include "tst_lessons.moc"
