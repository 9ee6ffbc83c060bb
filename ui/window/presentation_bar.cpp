#include "ui/window/presentation_bar.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/tool_button.h"

namespace sonde::window {

namespace {

QToolButton* presentationButton(const actions::ActionRegistry& actions, const char* id, QWidget* parent) {
    QAction* action = actions.action(QLatin1String(id));
    auto* button = new QToolButton(parent);
    button->setDefaultAction(action);
    button->setAutoRaise(true);
    button->setIconSize({theme::kIconSize * 4 / 3, theme::kIconSize * 4 / 3});
    button->setToolButtonStyle(Qt::ToolButtonIconOnly);
    button->setAccessibleName(action->text().remove(u'&'));
    button->setFocusPolicy(Qt::NoFocus);  // keys stay those of the walk
    return button;
}

}  // namespace

PresentationBar::PresentationBar(const actions::ActionRegistry& actions, QWidget* parent)
    : QToolBar(tr("Presentation"), parent), m_place(new QLabel), m_title(new widgets::ElidedLabel),
      m_facts(new widgets::ElidedLabel) {
    setObjectName(QStringLiteral("presentationBar"));
    setMovable(false);
    setFloatable(false);
    setContextMenuPolicy(Qt::PreventContextMenu);
    auto* all = new QWidget(this);
    auto* row = new QHBoxLayout(all);
    row->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    row->addWidget(presentationButton(actions, "present.previous", all));
    row->addWidget(presentationButton(actions, "present.next", all));
    m_place->setObjectName(QStringLiteral("presentationPlace"));
    row->addWidget(m_place);
    row->addSpacing(theme::kSmall);
    auto* words = new QVBoxLayout;
    words->setSpacing(0);
    m_title->setFont(theme::Theme::instance().titleFont());
    m_title->setObjectName(QStringLiteral("presentationTitle"));
    m_facts->setObjectName(QStringLiteral("presentationFacts"));
    m_facts->setColorRole(theme::ColorRole::MutedText);
    words->addWidget(m_title);
    words->addWidget(m_facts);
    row->addLayout(words, 1);
    for (const char* id : {"present.spotlight", "present.pointer", "present.pen", "present.erase", "present.black"})
        row->addWidget(presentationButton(actions, id, all));
    row->addSpacing(theme::kSmall);
    row->addWidget(presentationButton(actions, "present.toggle", all));
    addWidget(all);
}

void PresentationBar::show(const QString& place, const QString& title, const QString& facts) {
    m_place->setText(place);
    m_title->setText(title);
    m_facts->setText(facts);
    m_facts->setVisible(!facts.isEmpty());
}

QString PresentationBar::placeText() const { return m_place->text(); }
QString PresentationBar::titleText() const { return m_title->text(); }
QString PresentationBar::factsText() const { return m_facts->text(); }

}  // namespace sonde::window
