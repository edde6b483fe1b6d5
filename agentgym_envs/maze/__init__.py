"""The Maze scenario: walk to a goal through corridors, seeing only the nearest walls."""
