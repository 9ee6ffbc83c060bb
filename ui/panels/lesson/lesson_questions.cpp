#include "ui/panels/lesson/lesson_questions.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QVBoxLayout>

#include "ui/models/module_result.h"
#include "ui/models/node_text.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"

namespace sonde::panels {

namespace {

QLabel* wrappedLabel(const QString& text, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    label->setWordWrap(true);
    label->setTextFormat(Qt::MarkdownText);
    return label;
}

}  // namespace

LessonQuestions::LessonQuestions(context::OpenModel& opened, context::Navigation& navigation, context::Lessons& lessons,
                                 QWidget* parent)
    : QWidget(parent), m_opened(opened), m_navigation(navigation), m_lessons(lessons), m_column(new QVBoxLayout(this)) {
    m_column->setContentsMargins(0, 0, 0, 0);
    connect(&lessons, &context::Lessons::answered, this, &LessonQuestions::showVerdict);
    connect(&lessons, &context::Lessons::textChanged, this, &LessonQuestions::refreshTexts);
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, [this] {
        for (std::size_t i = 0; i < m_verdicts.size(); ++i) showVerdict(i);
    });
}

void LessonQuestions::rebuild() {
    delete m_all;
    m_verdicts.clear();
    m_asks.clear();
    m_all = new QWidget(this);
    auto* column = new QVBoxLayout(m_all);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(theme::kMedium);
    if (const lessons::Step* const step = m_lessons.step())
        for (std::size_t i = 0; i < step->questions.size(); ++i) column->addWidget(addQuestion(i, step->questions[i]));
    refreshTexts();
    m_column->addWidget(m_all);
    m_all->show();
}

void LessonQuestions::refreshTexts() {
    for (std::size_t i = 0; i < m_asks.size(); ++i) {
        const QString ask = m_lessons.ask(i).trimmed();
        m_asks[i]->setText(ask.isEmpty() || ask.contains(u'*') ? ask : QStringLiteral("**%1**").arg(ask));
    }
}

QWidget* LessonQuestions::addQuestion(std::size_t index, const lessons::Question& question) {
    auto* box = new QWidget(m_all);
    box->setObjectName(QStringLiteral("question%1").arg(index));
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(theme::kTight);
    auto* ask = wrappedLabel({}, box);
    m_asks.push_back(ask);
    column->addWidget(ask);
    using Kind = lessons::Question::Kind;
    if (question.kind == Kind::Number) addNumber(index, *column);
    else if (question.kind == Kind::Choice) addChoices(index, question, *column);
    else addNode(index, *column);
    auto* verdict = wrappedLabel({}, box);
    verdict->setObjectName(QStringLiteral("verdict"));
    verdict->hide();
    column->addWidget(verdict);
    m_verdicts.push_back(verdict);
    return box;
}

void LessonQuestions::addNumber(std::size_t index, QVBoxLayout& column) {
    auto* row = new QHBoxLayout;
    auto* number = new QLineEdit(m_all);
    number->setAccessibleName(tr("Answer, a number"));
    number->setPlaceholderText(tr("a number"));
    auto* button = new QPushButton(tr("Check"), m_all);
    const auto answer = [this, index, number] {
        session::LessonAnswer given;
        given.number = number->text().trimmed().toStdString();
        if (!given.number.empty()) m_lessons.answer(index, given);
    };
    connect(number, &QLineEdit::returnPressed, this, answer);
    connect(button, &QPushButton::clicked, this, answer);
    row->addWidget(number, 1);
    row->addWidget(button);
    column.addLayout(row);
}

void LessonQuestions::addChoices(std::size_t index, const lessons::Question& question, QVBoxLayout& column) {
    for (std::size_t i = 0; i < question.choices.size(); ++i) {
        auto* row = new QHBoxLayout;
        auto* choice = new QRadioButton(m_all);
        const QString text = QString::fromStdString(question.choices[i].text);
        choice->setAccessibleName(text);
        // A button's own text does not wrap.
        QLabel* label = wrappedLabel(text, m_all);
        label->setBuddy(choice);
        connect(choice, &QRadioButton::clicked, this, [this, index, i] {
            session::LessonAnswer given;
            given.choice = i;
            m_lessons.answer(index, given);
        });
        row->addWidget(choice, 0, Qt::AlignTop);
        row->addWidget(label, 1);
        column.addLayout(row);
    }
}

void LessonQuestions::addNode(std::size_t index, QVBoxLayout& column) {
    auto* row = new QHBoxLayout;
    auto* selected = new widgets::ElidedLabel(tr("Click a node in the graph"), m_all);
    auto* button = new QPushButton(tr("Check"), m_all);
    button->setToolTip(tr("Check the node that is selected in the graph"));
    const auto follow = [this, selected, button] {
        const graph::NodeId node = models::resultOf(m_opened, m_navigation.selection());
        button->setEnabled(node.valid());
        selected->setText(node.valid() ? models::shown(m_opened.graph().node(node).name)
                                       : tr("Click a node in the graph"));
    };
    connect(&m_navigation, &context::Navigation::selectionChanged, selected, follow);
    follow();
    connect(button, &QPushButton::clicked, this, [this, index] {
        session::LessonAnswer given;
        given.node = models::resultOf(m_opened, m_navigation.selection());
        m_lessons.answer(index, given);
    });
    row->addWidget(selected, 1);
    row->addWidget(button);
    column.addLayout(row);
}

void LessonQuestions::showVerdict(std::size_t index) {
    if (index >= m_verdicts.size()) return;
    const auto& verdict = m_lessons.verdict(index);
    m_verdicts[index]->setVisible(verdict.has_value());
    if (!verdict) return;
    m_verdicts[index]->setText(QString::fromStdString(verdict->text));
    const auto role = verdict->isRight ? theme::ColorRole::Success : theme::ColorRole::Warning;
    m_verdicts[index]->setStyleSheet(QStringLiteral("color: %1").arg(theme::color(role).name()));
}

}  // namespace sonde::panels
