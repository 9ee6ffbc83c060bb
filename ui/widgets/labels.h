#pragma once

#include <QWidget>

#include "ui/theme/color_role.h"

namespace sonde::widgets {

/// One line of text that is shortened with "…" where there is no room, and shows the whole in its tool tip then.
class ElidedLabel : public QWidget {
    Q_OBJECT
  public:
    explicit ElidedLabel(const QString& text = {}, QWidget* parent = nullptr);

    QString text() const { return m_text; }
    void setText(const QString& text);
    void setElideMode(Qt::TextElideMode mode);
    void setColorRole(theme::ColorRole role);
    bool isElided() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    virtual bool underlined() const { return false; }

  private:
    QString m_text;
    Qt::TextElideMode m_mode = Qt::ElideMiddle;
    theme::ColorRole m_role = theme::ColorRole::Text;
};

/// A name that leads to the thing: click, Return or Space. `target` is whatever the owner wants to know it by.
class LinkLabel : public ElidedLabel {
    Q_OBJECT
  public:
    explicit LinkLabel(const QString& text = {}, const QVariant& target = {}, QWidget* parent = nullptr);

    QVariant target() const { return m_target; }
    void setTarget(const QVariant& target) { m_target = target; }

  Q_SIGNALS:
    void activated(const QVariant& target);

  protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool underlined() const override { return m_hovered || hasFocus(); }

  private:
    QVariant m_target;
    bool m_hovered = false;
    bool m_pressed = false;
};

}  // namespace sonde::widgets
